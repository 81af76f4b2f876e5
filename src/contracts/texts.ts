/**
 * The texts of the pages, in one language. `{name}` in a text stands for a value. Plain text, escaped where it is shown.
 */
export interface Texts {
  readonly login: string;
  readonly userName: string;
  readonly password: string;
}

/** Texts of a language that leaves some out: those are English. */
export type PartialTexts = { readonly [Name in keyof Texts]?: Texts[Name] };
