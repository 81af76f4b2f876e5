/** A file for browsers, bundled when the package is built (`build/assets.ts`). */
declare module "*?asset" {
  /** The content that browsers get. */
  export const text: string;
  /** The hash of the content: 16 hexadecimal digits. */
  export const hash: string;
}
