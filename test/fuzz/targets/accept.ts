import { preferredLanguage } from "../../../src/http/accept-language.ts";
import { mediaType, negotiateVariant, prefersArchive } from "../../../src/http/negotiate.ts";
import { asHeaders, expect, expectSame, type FuzzTarget, readFields } from "../target.ts";

const LANGUAGES = ["en", "de", "pt-BR"];

/** Lines of `Accept`, `Accept-Language`, `Content-Type` and `Method`. */
export const target: FuzzTarget = {
  sources: ["http/negotiate.ts", "http/accept-language.ts"],
  dictionary: [
    "Accept: ",
    "Accept-Language: ",
    "Content-Type: ",
    "Method: POST",
    "application/json",
    "text/html",
    "application/zip",
    "multipart/form-data",
    "application/*",
    "*/*",
    "text/*",
    ";q=0",
    ";q=0.5",
    ";q=1.000",
    ";q=",
    "; Q = 0.1",
    ";charset=utf-8",
    ';a="b,c"',
    ",",
    ";",
    "/",
    "x-none/x-none",
    "en-GB",
    "de-DE;q=0.9",
    "pt",
    "*",
    "constructor",
    "__proto__",
  ],
  separators: [",", ";", "\n", "/", "="],
  maxLength: 16 * 1024,
  run,
};

function run(input: string): string {
  const fields = readFields(input);
  const results = [false, true].map((readsFolder) => negotiateVariant(toRequest(fields), readsFolder));
  const archive = prefersArchive(toRequest(fields));
  const accept = fields.get("accept")?.toLowerCase() ?? "";
  const sent = mediaType(fields.get("content-type") ?? null);
  const type = (fields.get("content-type") ?? "").toLowerCase();
  for (const variant of results) {
    expect(["json", "webdav", "html"].includes(variant), "a variant is one of ours");
    if (variant === "json")
      expect(/(?:application|\*)\/(?:json|\*)/.test(`${accept} ${type}`), "JSON goes to who names it");
  }
  if (results[0] === "html") {
    const isNamed = /(?:text|\*)\/(?:html|\*)|multipart\/form-data/.test(`${accept} ${type}`);
    expect(isNamed, "HTML goes to who names it, but for folders");
  }
  if (archive) expect(/(?:application|\*)\/(?:zip|\*)/.test(accept), "an archive goes to who names it");
  if (sent !== undefined)
    expect(sent !== "" && !/[;A-Z]/.test(sent) && type.includes(sent), "a type stands in its field");
  // Names of types, of parameters and `q` have no case (RFC 9110 8.3.1).
  const upper = new Map([...fields].map(([name, value]) => [name, name === "method" ? value : toUpper(value)]));
  expectSame(
    [negotiateVariant(toRequest(upper), false), prefersArchive(toRequest(upper))],
    [results[0], archive],
    "in any case",
  );
  const language = preferredLanguage(fields.get("accept-language") ?? "", LANGUAGES);
  expect(language === undefined || LANGUAGES.includes(language), "a language is one of those that there are");
  return `${results.join()} ${archive} ${language} ${sent !== undefined}`;
}

function toRequest(fields: ReadonlyMap<string, string>): Request {
  return { method: fields.get("method") ?? "GET", headers: asHeaders(fields) } as unknown as Request;
}

/** ASCII alone. */
function toUpper(text: string): string {
  return text.replace(/[a-z]/g, (letter) => letter.toUpperCase());
}
