import { checkOption } from "../contracts/option-error.ts";
import type { Branding } from "../contracts/pages/branding.ts";
import type { PartialTexts } from "../contracts/pages/texts.ts";
import type { HeaderFields } from "../http/reply.ts";
import { type BrandStyle, toBrandStyle } from "./brand-style.ts";
import type { FileServiceOptions } from "./options.ts";

/** The options of pages, checked and complete. */
export interface PageConfig {
  readonly branding: Branding & { readonly name: string };
  /** The stylesheet of the branding's colour; absent if the branding has none. */
  readonly brandStyle: BrandStyle | undefined;
  /** By language tag in its canonical form. */
  readonly languages: ReadonlyMap<string, PartialTexts>;
  /** Headers of every page, against framing and injected code (SECURITY 21). */
  readonly fields: HeaderFields;
  /** The headers of a page whose forms are sent only by its script. */
  readonly formlessFields: HeaderFields;
}

/** Checks the options of pages. @throws OptionError */
export function toPageConfig({ branding = {}, languages = {}, frameAncestors = [] }: FileServiceOptions): PageConfig {
  checkBranding(branding);
  const areOrigins = Array.isArray(frameAncestors) && frameAncestors.every(isAncestor);
  checkOption(areOrigins, "frameAncestors", "origins such as https://intranet.example, or 'self' with its quotes");
  const { name = "Files", accent, logo } = branding;
  return {
    branding: { ...branding, name },
    brandStyle: accent === undefined ? undefined : toBrandStyle(accent),
    languages: toLanguages(languages),
    fields: toFields(logo, frameAncestors, ["media-src 'self'", "form-action 'self'"]),
    formlessFields: toFields(logo, frameAncestors, ["form-action 'none'"]),
  };
}

function checkBranding(branding: unknown): asserts branding is Branding {
  checkOption(isObject(branding), "branding", "an object");
  const { name, logo, accent, footnote } = branding as Record<string, unknown>;
  checkOption(name === undefined || (typeof name === "string" && name.trim() !== ""), "branding.name", "a text");
  checkOption(logo === undefined || isLogo(logo), "branding.logo", "an https URL or a path such as /logo.svg");
  const isColor = typeof accent === "string" && /^#[\da-f]{6}$/i.test(accent);
  checkOption(accent === undefined || isColor, "branding.accent", "a colour such as #0b5fff");
  checkOption(footnote === undefined || typeof footnote === "string", "branding.footnote", "a text");
}

/** A path has exactly one leading slash: two of them, or a backslash, would lead to another host. */
function isLogo(text: unknown): text is string {
  if (typeof text !== "string") return false;
  if (text.startsWith("/")) return /^\/(?![/\\])[!-~]*$/.test(text);
  return URL.canParse(text) && new URL(text).protocol === "https:";
}

function isAncestor(text: unknown): boolean {
  if (text === "'self'") return true;
  return typeof text === "string" && /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

function toLanguages(languages: unknown): ReadonlyMap<string, PartialTexts> {
  checkOption(isObject(languages), "languages", "texts by language tag");
  const entries = Object.entries(languages as object).map(([tag, texts]) => {
    const canonical = toCanonicalTag(tag);
    checkOption(canonical !== undefined, `languages.${tag}`, "named by a language tag such as fr or pt-BR");
    checkOption(isObject(texts), `languages.${tag}`, "an object of texts");
    for (const [name, text] of Object.entries(texts as object)) checkTexts(text, `languages.${tag}.${name}`);
    return [canonical ?? tag, { ...(texts as PartialTexts) }] as const;
  });
  return new Map(entries);
}

function toCanonicalTag(tag: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(tag)[0];
  } catch {
    return undefined;
  }
}

function checkTexts(value: unknown, option: string): void {
  const areTexts = isObject(value) && Object.values(value).every((text) => typeof text === "string");
  checkOption(typeof value === "string" || areTexts, option, "a text, or texts by their names");
}

/**
 * The policy allows scripts and styles of the service's own files only, and nothing from other origins except the logo.
 * `own` are the directives that not all pages have: `media-src` is for the viewer of the folder page.
 * `Referrer-Policy: same-origin` lets forms send their origin to the service, which the same-origin rule needs
 * (CONTRACT 6.5).
 */
function toFields(logo: string | undefined, frameAncestors: readonly string[], own: readonly string[]): HeaderFields {
  const logoOrigin = logo === undefined || logo.startsWith("/") ? "" : ` ${new URL(logo).origin}`;
  const ancestors = frameAncestors.length === 0 ? "'none'" : frameAncestors.join(" ");
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src 'self' data:${logoOrigin}`,
    "connect-src 'self'",
    ...own,
    "base-uri 'none'",
    `frame-ancestors ${ancestors}`,
  ];
  return {
    "Content-Security-Policy": policy.join("; "),
    "X-Frame-Options": frameAncestors.length === 0 ? "DENY" : undefined,
    "Referrer-Policy": "same-origin",
  };
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
