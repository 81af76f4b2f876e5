import { OptionError } from "../contracts/option-error.ts";
import { toBase64 } from "../platform/text-encoding.ts";

/** Header fields as they are sent: pairs of a name and a value. */
export type HeaderLines = readonly (readonly [name: string, value: string])[];

/** What the exchange itself consists of: another value would break it, or smuggle something past it (RFC 9110, RFC 9112). */
const ownFields: ReadonlySet<string> = new Set([
  "accept",
  "accept-charset",
  "accept-encoding",
  "connection",
  "content-encoding",
  "content-length",
  "content-range",
  "content-type",
  "expect",
  "host",
  "http2-settings",
  "keep-alive",
  "proxy-connection",
  "range",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Whether a text is a token, as names of header fields and of schemes of authentication are (RFC 9110 5.6.2). */
export function isToken(text: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(text);
}

/**
 * Reads the option `headers` in both of its forms (5.2). Throws `TypeError` that names the option and the field, never a value: it is a
 * secret.
 */
export function parseHeaders(option: string | Readonly<Record<string, string>>): HeaderLines {
  const lines = typeof option === "string" ? parseLines(option) : toLines(option);
  const names = new Set<string>();
  for (const [name, value] of lines) {
    const lower = name.toLowerCase();
    if (ownFields.has(lower)) throw wrong(`without ${name}, which every request sets itself`);
    if (names.has(lower)) throw wrong(`a list without duplicates, but has ${name} twice`);
    if (!/^[ -~]+$/.test(value)) throw wrong(`printable ASCII in the value of ${name}`);
    names.add(lower);
  }
  return lines;
}

/** `Authorization` of Basic authentication in UTF-8 (RFC 7617). */
export function toBasicAuthorization(username: string, password: string): string {
  return `Basic ${toBase64(`${username}:${password}`)}`;
}

/** A line that is not understood may be all secret: it is named by its number. */
function parseLines(text: string): HeaderLines {
  return text.split(/\r?\n/).flatMap((line, index): HeaderLines => {
    if (line.trim() === "") return [];
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(colon, 0));
    if (!isToken(name)) throw wrong(`"Name: value" on each line, which line ${index + 1} is not`);
    return [[name, trimBlanks(line.slice(colon + 1))]];
  });
}

function toLines(fields: Readonly<Record<string, string>>): HeaderLines {
  if (typeof fields !== "object" || fields === null || Array.isArray(fields)) {
    throw wrong("text, or an object of texts");
  }
  return Object.entries(fields).map(([name, value]: [string, unknown]) => {
    if (!isToken(name)) throw wrong("an object whose keys are names of header fields (RFC 9110 5.1)");
    if (typeof value !== "string") throw wrong(`an object with text for ${name}`);
    return [name, trimBlanks(value)];
  });
}

/** RFC 9110 5.5: blanks around a value are not part of it. Other white space is, and is refused. */
function trimBlanks(value: string): string {
  let start = 0;
  let end = value.length;
  while (start < end && isBlank(value[start])) start += 1;
  while (end > start && isBlank(value[end - 1])) end -= 1;
  return value.slice(start, end);
}

function isBlank(character: string | undefined): boolean {
  return character === " " || character === "\t";
}

function wrong(expected: string): OptionError {
  return new OptionError("headers", expected);
}
