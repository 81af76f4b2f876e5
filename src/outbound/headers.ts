import { OptionError } from "../contracts/option-error.ts";
import { toBase64 } from "../platform/text-encoding.ts";

/** Header fields as they are sent: pairs of a name and a value. */
export type HeaderLines = readonly (readonly [name: string, value: string])[];

/**
 * Fields of the request itself. Another value would break the request, or smuggle a second one into it (RFC 9110, RFC
 * 9112).
 */
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

/** Whether a text is a token, as names of header fields and of authentication schemes are (RFC 9110 5.6.2). */
export function isToken(text: string): boolean {
  return /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(text);
}

/**
 * Parses the option `headers` in both of its forms (5.2).
 * @throws TypeError naming the option and the field, never its value, which is a secret.
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

/** The value of `Authorization` for HTTP Basic authentication in UTF-8 (RFC 7617). */
export function toBasicAuthorization(username: string, password: string): string {
  return `Basic ${toBase64(`${username}:${password}`)}`;
}

/** A malformed line may be a secret, so the error names only its number. */
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
