import { readCorpus } from "../corpus.ts";
import { cutLine } from "../target.ts";

/*
 * Where fileferry and busboy read the same form differently.
 */

/** A form that the two read differently. */
export interface Difference {
  readonly what: string;
  /** What fileferry does with it. */
  readonly fileferry: "reads" | "refuses";
  /** What busboy does instead, and why fileferry does not. */
  readonly reason: string;
  /**
   * The value of `Content-Type`, a line feed, and the body; or the name of such a file in test/fuzz/corpus/multipart.
   */
  readonly form: string | { readonly corpus: string };
  /** Whether a hostile form may differ for this reason. Only for forms that fileferry reads. */
  isIn?(type: string, body: string): boolean;
}

const TYPE = "multipart/form-data; boundary=B";
const TOKEN = "[\\w!#$%&'*+.^`|~-]+";
const NAME = 'Content-Disposition: form-data; name="a"';

function withBody(body: string): string {
  return `${TYPE}\n${body}`;
}

/** A form of one part, by its head. */
function withHead(head: string): string {
  return withBody(`--B\r\n${head}\r\n\r\nx\r\n--B--\r\n`);
}

function withType(type: string, boundary = "B"): string {
  return `${type}\n--${boundary}\r\n${NAME}\r\n\r\nx\r\n--${boundary}--\r\n`;
}

const REPAIRS = "A form that is not what the RFC says has no one meaning: fileferry does not guess.";
const SKIPS = "Busboy leaves the part out and accepts the form: the client would never know.";
const STRICT_TYPE = "Busboy takes tokens only, and no empty parameter. Clients send both.";
/** A `Content-Type` in a part that is not `type/subtype` and parameters. */
const BAD_PART_TYPE = new RegExp(
  `content-type:(?![ \\t]*${TOKEN}/${TOKEN}(?:[ \\t]*;[ \\t]*${TOKEN}=(?:${TOKEN}|"[^"\\\\\\r\\n]*"))*[ \\t]*\\r\\n)`,
  "i",
);
const CONTROLS = "Busboy refuses control characters in heads. fileferry checks names where they name something.";
const LIMITS = "Busboy has no such limit by default, or another one (SECURITY 12).";

export const DIFFERENCES: readonly Difference[] = [
  // Names.
  {
    what: "an escaped name",
    fileferry: "reads",
    reason:
      "Browsers write quotes and line breaks as %22, %0D and %0A (HTML, multipart/form-data). Busboy leaves them so.",
    form: { corpus: "escaped-name" },
  },
  {
    what: "an empty file name",
    fileferry: "reads",
    reason: "Browsers send it for a file input without a file. Busboy does not tell it from no file name.",
    form: { corpus: "empty-input" },
  },
  {
    what: "two backslashes in a name",
    fileferry: "reads",
    reason: "Busboy takes a backslash for an escape. Browsers do not escape by it: it is a part of the name.",
    form: withHead(String.raw`Content-Disposition: form-data; name="a\\b"`),
    isIn: (_type, body) => /\\[\\"]/.test(body),
  },
  {
    what: "a backslash at the end of a name",
    fileferry: "reads",
    reason: `Busboy takes it for an escape of the closing quote. ${SKIPS}`,
    form: withHead(String.raw`Content-Disposition: form-data; name="a"; filename="b\"`),
  },
  {
    what: "a backslash before a quote",
    fileferry: "refuses",
    reason: "Busboy takes it for an escape. To others the name ends at the quote.",
    form: withHead(String.raw`Content-Disposition: form-data; name="a\"b"`),
  },
  {
    what: "a file name in extended form",
    fileferry: "refuses",
    reason: "RFC 7578 4.2 forbids it. Busboy prefers it to the plain name, which others see.",
    form: { corpus: "second-name" },
  },
  {
    what: "another parameter in an extended form that nobody reads",
    fileferry: "reads",
    reason: SKIPS,
    form: withHead(`${NAME}; x*=unheard-of''%ff`),
    isIn: (_type, body) => /form-data.*\*=/i.test(body),
  },
  {
    what: "a name twice",
    fileferry: "refuses",
    reason: `Busboy takes the first. ${REPAIRS}`,
    form: withHead(`${NAME}; name="b"`),
  },
  {
    what: "a file name twice",
    fileferry: "refuses",
    reason: `Busboy takes the first. ${REPAIRS}`,
    form: withHead(`${NAME}; filename="b"; filename="c"`),
  },
  {
    what: "a name that is not UTF-8",
    fileferry: "refuses",
    reason: "Busboy replaces bytes by U+FFFD: two names become one.",
    form: { corpus: "head-no-utf-8" },
  },
  {
    what: "an unquoted name that is no token",
    fileferry: "reads",
    reason: SKIPS,
    form: withHead("Content-Disposition: form-data; name=a/b"),
    isIn: (_type, body) => /form-data.*=[^";\r\n]*[^";\r\n\w!#$%&'*+.^`|~-]/i.test(body),
  },
  // Heads.
  { what: "no name", fileferry: "refuses", reason: REPAIRS, form: withHead("Content-Disposition: form-data; x=y") },
  { what: "no Content-Disposition", fileferry: "refuses", reason: SKIPS, form: withHead("Content-Type: text/plain") },
  {
    what: "another disposition",
    fileferry: "refuses",
    reason: SKIPS,
    form: withHead('Content-Disposition: attachment; name="a"'),
  },
  {
    what: "two dispositions",
    fileferry: "refuses",
    reason: `Busboy takes the first. ${REPAIRS}`,
    form: { corpus: "field-twice" },
  },
  {
    what: "quotes that do not end",
    fileferry: "refuses",
    reason: SKIPS,
    form: withHead('Content-Disposition: form-data; name="a'),
  },
  { what: "text behind the quotes", fileferry: "refuses", reason: SKIPS, form: withHead(`${NAME}b`) },
  {
    what: "a semicolon at the end of a head",
    fileferry: "reads",
    reason: SKIPS,
    form: withHead(`${NAME};`),
    isIn: (_type, body) => /;[ \t]*(?:;|\r\n)/.test(body),
  },
  {
    what: "a folded head",
    fileferry: "refuses",
    reason: "Busboy joins the lines. RFC 9112 5.2 forbids them in HTTP, and others read two fields.",
    form: { corpus: "folded-head" },
  },
  {
    what: "a coded part",
    fileferry: "refuses",
    reason: "Busboy hands it out as it is, with the coding's name. RFC 7578 4.7 says not to send it.",
    form: { corpus: "coded-part" },
  },
  {
    what: "a control character in a head",
    fileferry: "reads",
    reason: CONTROLS,
    form: withHead('Content-Disposition: form-data; name="a\u0001"'),
    // biome-ignore lint/suspicious/noControlCharactersInRegex: They are what it is about.
    isIn: (_type, body) => /[\x01-\x08\x0b\x0c\x0e-\x1f\x7f]/.test(body),
  },
  {
    what: "a byte order mark before a field's value",
    fileferry: "refuses",
    reason: SKIPS,
    form: withHead('Content-Disposition: \xef\xbb\xbfform-data; name="a"'),
  },
  {
    what: "a part whose type is none",
    fileferry: "reads",
    reason: "Busboy says text/plain. fileferry hands the field out as it came.",
    form: withHead(`${NAME}; filename="b"\r\nContent-Type: text`),
    isIn: (_type, body) => BAD_PART_TYPE.test(body),
  },
  {
    what: "a text in another charset",
    fileferry: "reads",
    reason:
      "Busboy decodes fields by their charset. fileferry hands out bytes; fields of forms are UTF-8 (RFC 7578 5.1.2).",
    form: withBody(`--B\r\n${NAME}\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n\xc3\xa4\r\n--B--\r\n`),
  },
  // Boundaries.
  {
    what: "blanks behind a boundary",
    fileferry: "reads",
    reason: `RFC 2046 5.1.1 allows them. ${SKIPS}`,
    form: { corpus: "padding" },
    isIn: (_type, body) => /--.*[ \t]\r\n/.test(body),
  },
  {
    what: "text behind a boundary",
    fileferry: "refuses",
    reason: SKIPS,
    form: withBody(`--Bx\r\n${NAME}\r\n\r\nx\r\n--B--`),
  },
  {
    what: "one dash behind a boundary",
    fileferry: "refuses",
    reason: SKIPS,
    form: withBody(`--B-\r\n${NAME}\r\n\r\nx\r\n--B--`),
  },
  {
    what: "a boundary directly behind a head",
    fileferry: "reads",
    reason: "The part is empty (RFC 2046 5.1.1). Busboy takes the next head for content.",
    form: { corpus: "boundary-after-a-head" },
    isIn: (_type, body) => body.includes("\r\n\r\n--B"),
  },
  {
    what: "parts behind the last boundary",
    fileferry: "reads",
    reason:
      "They are no parts (RFC 2046 5.1.1). Busboy reads on to the end of the chunk: it depends on how the form is cut.",
    form: withBody(`--B\r\n${NAME}\r\n\r\nx\r\n--B--${`\r\n--B\r\n${NAME}\r\n\r\ny`.repeat(2)}\r\n--B--\r\n`),
    isIn: (_type, body) => hasPartBehindEnd(body),
  },
  {
    what: "a boundary that ends in a blank",
    fileferry: "refuses",
    reason: "RFC 2046 5.1.1: proxies take it away.",
    form: { corpus: "boundary-with-blank-end" },
  },
  {
    what: "a boundary of 71 characters",
    fileferry: "refuses",
    reason: "RFC 2046 5.1.1 allows 70.",
    form: withType(`multipart/form-data; boundary=${"x".repeat(71)}`, "x".repeat(71)),
  },
  {
    what: "two boundaries",
    fileferry: "refuses",
    reason: `Busboy takes the first. ${REPAIRS}`,
    form: { corpus: "two-boundaries" },
  },
  {
    what: "an unquoted boundary that is no token",
    fileferry: "reads",
    reason: STRICT_TYPE,
    form: withType("multipart/form-data; boundary=a/b", "a/b"),
    isIn: (type) => /=[^"; \t]*[^"; \t\w!#$%&'*+.^`|~-]/.test(type),
  },
  {
    what: "a semicolon at the end of the Content-Type",
    fileferry: "reads",
    reason: STRICT_TYPE,
    form: withType("multipart/form-data; boundary=B;"),
    isIn: (type) => /;[ \t]*(?:;|$)/.test(type),
  },
  // Limits.
  {
    what: "1,001 parts",
    fileferry: "refuses",
    reason: LIMITS,
    form: withBody(`${`--B\r\n${NAME}\r\n\r\nx\r\n`.repeat(1001)}--B--\r\n`),
  },
  {
    what: "33 fields in a head",
    fileferry: "refuses",
    reason: LIMITS,
    form: withHead(`${NAME}${Array.from({ length: 32 }, (_, index) => `\r\nX-${index}: y`).join("")}`),
  },
  {
    what: "17 parameters in a head",
    fileferry: "refuses",
    reason: LIMITS,
    form: withHead(`${NAME}${Array.from({ length: 16 }, (_, index) => `; x${index}=y`).join("")}`),
  },
];

const corpus = readCorpus("multipart");

/** The form of a difference, cut into its `Content-Type` and its body. */
export function formOf({ form }: Difference): readonly [type: string, body: string] {
  if (typeof form === "string") return cutLine(form);
  const text = corpus.get(form.corpus);
  if (text === undefined) throw new Error(`No such file in the corpus: ${form.corpus}`);
  return cutLine(text);
}

/** Whether anything that busboy takes for a part follows a last boundary, whatever the boundary is. */
export function hasPartBehindEnd(body: string): boolean {
  const end = /(?:^|\r\n)--.*?--/.exec(body);
  return end !== null && body.includes("\r\n--", end.index + end[0].length);
}
