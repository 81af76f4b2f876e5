import type { Metadata } from "../../../src/contracts/events/transfers.ts";
import { isHttpError } from "../../../src/http/http-error.ts";
import { parseMetadataFields } from "../../../src/uploads/metadata-fields.ts";
import { readMetadata } from "../../../src/uploads/metadata-header.ts";
import { asHeaders, decodeStrictly, expect, expectSame, type FuzzTarget, toBytes } from "../target.ts";

const ANY = parseMetadataFields("X-Labels");
const SOME = parseMetadataFields("X-Labels required\nproject required\nlabel-* optional\n__proto__ optional");

/** The value of a metadata header; the same text is read as the option that describes one. */
export const target: FuzzTarget = {
  sources: ["uploads/metadata-header.ts", "uploads/metadata-fields.ts", "http/header-text.ts"],
  dictionary: [
    "project=a",
    "label-x=1",
    "__proto__=x",
    "constructor=",
    '"project=a, b"',
    '""',
    '"',
    ",",
    ",,",
    "=",
    " ",
    "\t",
    '" ',
    ' ,"',
    "\xc3\xa4=\xe2\x82\xac",
    "X-Labels",
    " required",
    ", optional",
    "\n",
    "key-*",
    "*",
    "Authorization",
  ],
  separators: [",", "=", '"', "\n", " "],
  maxLength: 16 * 1024,
  run,
};

function run(input: string): string {
  const any = read(input, ANY);
  const expected = plainRead(input);
  expectSame(toEntries(any), toEntries(expected), "a second reader of RFC 4180 finds the same");
  if (typeof any === "object") {
    const again = Object.entries(any).flatMap(([key, values]) => values.map((value) => toField(`${key}=${value}`)));
    expectSame(toEntries(read(toLatin1(again.join(" , ")), ANY)), toEntries(any), "what is written again is the same");
    expect(Object.getPrototypeOf(any) === Object.prototype, "no key changes what the object is");
  }
  const some = read(input, SOME);
  if (typeof some === "object") {
    expectSame(toEntries(some), toEntries(any), "rules change nothing of what they let through");
    const isExpected = (key: string) => key === "project" || key === "__proto__" || key.startsWith("label-");
    expect(
      Object.hasOwn(some, "project") && Object.keys(some).every(isExpected),
      "only keys of the rules come through",
    );
  }
  return `${describe(any)}; ${describe(some)}; ${configure(input)}`;
}

function read(value: string, rules: typeof ANY): Metadata | string {
  try {
    return readMetadata(asHeaders(new Map([["x-labels", value]])), rules) ?? "none";
  } catch (error) {
    if (!isHttpError(error) || error.failure !== "malformed") throw error;
    return error.message;
  }
}

/** The option is the operator's: what is wrong with it is a `TypeError`. */
function configure(input: string): string {
  try {
    const { header, keys } = parseMetadataFields(input);
    expect(/^[!-~]+$/.test(header) && !/[,:;"\s]/.test(header), "the header has a name");
    return `${keys?.length ?? "any"} keys`;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return "no keys";
  }
}

function describe(found: Metadata | string): string {
  return typeof found === "string" ? found : `${Math.min(Object.keys(found).length, 4)} keys`;
}

function toEntries(found: Metadata | string | undefined): unknown {
  return typeof found === "object" ? Object.entries(found) : "refused";
}

/** As the header carries it: its UTF-8, byte by byte. */
function toLatin1(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

function toField(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}

/** Character by character; `undefined` for what is none. */
function plainRead(input: string): Metadata | undefined {
  const text = decodeStrictly(toBytes(input));
  if (text === undefined) return undefined;
  const found = new Map<string, string[]>();
  for (const field of text.trim() === "" ? [] : (plainFields(text) ?? [""])) {
    const mark = field.indexOf("=");
    if (mark < 1) return undefined;
    const [key, value] = [field.slice(0, mark), field.slice(mark + 1)];
    found.set(key, [...(found.get(key) ?? []), value]);
  }
  return Object.fromEntries(found);
}

function plainFields(text: string): readonly string[] | undefined {
  const fields: string[] = [];
  for (let at = 0; ; at++) {
    at = passBlanks(text, at);
    const read = text[at] === '"' ? plainQuoted(text, at + 1) : plainBare(text, at);
    if (read === undefined) return undefined;
    fields.push(read.field);
    at = read.end;
    if (at >= text.length) return fields;
  }
}

function passBlanks(text: string, from: number): number {
  let at = from;
  while (text[at] === " " || text[at] === "\t") at++;
  return at;
}

interface PlainField {
  readonly field: string;
  /** Where its comma is, or the text's end. */
  readonly end: number;
}

function plainBare(text: string, from: number): PlainField | undefined {
  const comma = text.indexOf(",", from);
  const end = comma < 0 ? text.length : comma;
  const field = text.slice(from, end).trimEnd();
  return field.includes('"') ? undefined : { field, end };
}

function plainQuoted(text: string, from: number): PlainField | undefined {
  let field = "";
  for (let at = from; at < text.length; at++) {
    if (text[at] !== '"') field += text[at];
    else if (text[at + 1] === '"') field += text[at++];
    else {
      const end = passBlanks(text, at + 1);
      return end >= text.length || text[end] === "," ? { field, end } : undefined;
    }
  }
  return undefined;
}
