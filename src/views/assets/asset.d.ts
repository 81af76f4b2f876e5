/** A file of the pages, bundled for browsers when the package is built (`build/assets.ts`). */
declare module "*?asset" {
  /** What browsers get. */
  export const text: string;
  /** Changes with the text: 16 hexadecimal digits. */
  export const hash: string;
}
