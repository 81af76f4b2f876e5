import { checkOption } from "../contracts/option-error.ts";
import type { PartialTexts, Texts } from "../contracts/texts.ts";
import { preferredLanguage } from "../http/accept-language.ts";
import { memoize } from "../platform/memoize.ts";
import { ENGLISH } from "./texts/english.ts";
import { GERMAN } from "./texts/german.ts";

/** Chooses the texts by a request's `Accept-Language` (RFC 9110 12.5.4). The fallback is English. */
export type ChooseTexts = (acceptLanguage: string | null) => Texts;

/**
 * Creates a function that chooses among the built-in languages and those of the options, whose tags must be canonical.
 * Texts that a language of the options leaves out come from the built-in texts of the same language, else from English.
 * @throws TypeError naming a text that no page has.
 */
export function createTexts(languages: ReadonlyMap<string, PartialTexts>): ChooseTexts {
  const all = new Map<string, Texts>([ENGLISH, GERMAN].map((texts) => [texts.language, texts]));
  for (const [tag, partial] of languages) all.set(tag, complete(tag, partial));
  const english = all.get(ENGLISH.language) ?? ENGLISH;
  const tags = [...all.keys()];

  const choose = memoize((acceptLanguage) => all.get(preferredLanguage(acceptLanguage, tags) ?? "") ?? english);

  return (acceptLanguage) => (acceptLanguage === null ? english : choose(acceptLanguage));
}

function complete(tag: string, partial: PartialTexts): Texts {
  const base = [GERMAN, ENGLISH].find(({ language }) => language === tag.split("-", 1)[0]) ?? ENGLISH;
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

/** Replaces each `{name}` in a text with its value. */
export function fillText(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) =>
    Object.hasOwn(values, name) ? (values[name] ?? "") : whole,
  );
}

interface FailurePattern {
  readonly pattern: RegExp;
  readonly text: string;
}

const patternsOf = new WeakMap<Texts, readonly FailurePattern[]>();

/**
 * Translates a failure's English message into the language of the page. Returns the message if there is no translation.
 */
export function toFailureText(texts: Texts, message: string): string {
  const { failures } = texts;
  if (Object.hasOwn(failures, message)) return failures[message] ?? message;
  const patterns = patternsOf.get(texts) ?? compileFailures(failures);
  patternsOf.set(texts, patterns);
  for (const { pattern, text } of patterns) {
    const match = pattern.exec(message);
    if (match !== null)
      return fillText(text, Object.fromEntries([...match].slice(1).map((part, index) => [index, part])));
  }
  return message;
}

/** Compiles the messages with placeholders. The longest comes first, because it is the most specific. */
function compileFailures(failures: Texts["failures"]): readonly FailurePattern[] {
  const variable = Object.entries(failures).filter(([english]) => english.includes("{0}"));
  variable.sort(([one], [other]) => other.length - one.length);
  return variable.map(([english, text]) => {
    const parts = english.split(/\{\d+\}/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    return { pattern: new RegExp(`^${parts.join("([^]{0,200}?)")}$`), text };
  });
}
