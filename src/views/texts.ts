import { checkOption } from "../contracts/option-error.ts";
import type { PartialTexts, Texts } from "../contracts/pages/texts.ts";
import { preferredLanguage } from "../http/accept-language.ts";
import { ERRORS } from "../http/errors.ts";
import type { HttpError } from "../http/http-error.ts";
import { fillText } from "../platform/fill-text.ts";
import { memoize } from "../platform/memoize.ts";
import { ENGLISH } from "./texts/english.ts";
import { FRENCH } from "./texts/french.ts";
import { GERMAN } from "./texts/german.ts";
import { SPANISH } from "./texts/spanish.ts";

/** The built-in languages. */
export const BUILT_IN: readonly Texts[] = [ENGLISH, GERMAN, FRENCH, SPANISH];

/** Chooses the texts by a request's `Accept-Language` (RFC 9110 12.5.4). The fallback is English. */
export type ChooseTexts = (acceptLanguage: string | null) => Texts;

/**
 * Creates a function that chooses among the built-in languages and those of the options, whose tags must be canonical.
 * Texts that a language of the options leaves out come from the built-in texts of the same language, else from English.
 * @throws TypeError naming a text that no page has.
 */
export function createTexts(languages: ReadonlyMap<string, PartialTexts>): ChooseTexts {
  const all = new Map<string, Texts>(BUILT_IN.map((texts) => [texts.language, texts]));
  for (const [tag, partial] of languages) all.set(tag, complete(tag, partial));
  const english = all.get(ENGLISH.language) ?? ENGLISH;
  const tags = [...all.keys()];

  const choose = memoize((acceptLanguage) => all.get(preferredLanguage(acceptLanguage, tags) ?? "") ?? english);

  return (acceptLanguage) => (acceptLanguage === null ? english : choose(acceptLanguage));
}

function complete(tag: string, partial: PartialTexts): Texts {
  const base = BUILT_IN.find(({ language }) => language === tag.split("-", 1)[0]) ?? ENGLISH;
  const texts: Record<string, unknown> = { ...base, language: tag };
  for (const [name, text] of Object.entries(partial)) {
    if (text === undefined) continue;
    const known = name === "language" || !Object.hasOwn(base, name) ? undefined : base[name as keyof Texts];
    checkOption(typeof known === typeof text, `languages.${tag}.${name}`, "a text that pages have");
    texts[name] = typeof text === "string" ? text : { ...(known as object), ...(text as object) };
  }
  const hasDirection = texts.direction === "ltr" || texts.direction === "rtl";
  checkOption(hasDirection, `languages.${tag}.direction`, "ltr or rtl");
  return texts as unknown as Texts;
}

/** What a page shows of an error. Every {@link HttpError} has it. */
export type ShownError = Pick<HttpError, "code" | "message" | "values">;

/**
 * The text of an error in the language of the page, by the error's code. Returns the message if there is no
 * translation, or if it is a text of the host under one of the service's own codes.
 */
export function toErrorText({ failures }: Texts, { code, message, values }: ShownError): string {
  const isHostText = values === undefined && Object.hasOwn(ERRORS, code);
  const text = isHostText || !Object.hasOwn(failures, code) ? undefined : failures[code];
  return text === undefined ? message : fillText(text, values ?? {});
}

/**
 * The message of an error in JSON. It is English, but for the script of the pages: this shows it next to texts of the
 * page, and says so by the header `X-Messages`.
 */
export function toJsonMessage({ request, texts }: MessageContext, error: ShownError): string {
  return request.headers.get("x-messages") === "translated" ? toErrorText(texts, error) : error.message;
}

/** What the message of an error in JSON depends on. A request context has it. */
export interface MessageContext {
  readonly request: Pick<Request, "headers">;
  readonly texts: Texts;
}
