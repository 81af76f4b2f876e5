import fc from "fast-check";
import type { Form, Part } from "./readings.ts";

/*
 * Valid forms, as browsers and other clients send them.
 */

/** A form, and what it says. */
export interface WrittenForm extends Form {
  readonly parts: readonly Part[];
}

const CRLF = "\r\n";

/** Texts that a parser may stumble over, besides any others. */
const ODD_NAMES = [
  '"',
  "\r\n",
  "%",
  "%22",
  "%2",
  ";",
  "=",
  "\\",
  "/",
  "..",
  " ",
  "'",
  ":",
  "--",
  "ü",
  "نص",
  "👩‍🚀",
  "\ufeff",
  "\u202e",
];

/** Names that mean the same to both; what they do not agree on is in DIFFERENCES. */
const name = fc
  .array(fc.oneof(fc.constantFrom(...ODD_NAMES), fc.string({ unit: "grapheme", maxLength: 4 })), {
    minLength: 1,
    maxLength: 5,
  })
  .map((pieces) => pieces.join(""))
  .filter((text) => text !== "" && !/\\(?:\\|"|$)/.test(text) && !/[^\P{Cc}\r\n]/u.test(text));

const boundary = fc.oneof(
  fc.constantFrom(
    "B",
    "----WebKitFormBoundary7MA4YWxkTrZu0gW",
    "-".repeat(29),
    "'()+_,-./:=? x",
    "aab",
    "x".repeat(70),
  ),
  fc.stringMatching(/^[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]$/),
);

/** What is nearly a boundary, and anything else: one character is one byte. */
function contentBeside(boundary: string): fc.Arbitrary<string> {
  const pieces = [
    CRLF,
    "\r",
    "\n",
    "-",
    "--",
    `${CRLF}-`,
    `${CRLF}--`,
    `--${boundary}`,
    `\n--${boundary}`,
    boundary,
    "\r\r\n--",
  ];
  const cut = fc.nat({ max: boundary.length + 3 }).map((length) => `${CRLF}--${boundary}`.slice(0, length));
  const bytes = fc.uint8Array({ maxLength: 6 }).map((data) => Buffer.from(data).toString("latin1"));
  return fc
    .array(fc.oneof(fc.constantFrom(...pieces), cut, bytes), { maxLength: 12 })
    .map((found) => found.join(""))
    .filter((text) => !`${CRLF}${text}${CRLF}`.includes(`${CRLF}--${boundary}`));
}

interface Written {
  readonly name: string;
  readonly filename: string | undefined;
  readonly type: string | undefined;
  readonly content: string;
  /** A field that means nothing, before or after the others. */
  readonly extra: "" | "before" | "after";
  readonly isTight: boolean;
}

function partBeside(boundary: string): fc.Arbitrary<Written> {
  const content = contentBeside(boundary);
  const extra = fc.constantFrom("", "before", "after");
  const common = { name, content, extra, isTight: fc.boolean() };
  const fileTypes = ["application/octet-stream", "Image/PNG", "text/plain; charset=utf-8", 'text/html;charset="x"'];
  return fc.oneof(
    fc.record({ ...common, filename: fc.constant(undefined), type: fc.constantFrom(undefined, "text/plain") }),
    fc.record({ ...common, filename: name, type: fc.constantFrom(undefined, ...fileTypes) }),
  );
}

function toHead({ name, filename, type, extra, isTight }: Written): string {
  const [colon, semicolon] = isTight ? [":", ";"] : [": ", "; "];
  const disposition = isTight ? "content-disposition" : "Content-Disposition";
  const parameters = [
    `name="${escapeName(name)}"`,
    ...(filename === undefined ? [] : [`filename="${escapeName(filename)}"`]),
  ];
  const lines = [
    `${disposition}${colon}${["form-data", ...parameters].join(semicolon)}`,
    ...(type === undefined ? [] : [`Content-Type${colon}${type}`]),
  ];
  if (extra === "before") lines.unshift("X-Extra: thing");
  if (extra === "after") lines.push("Content-Length: 7");
  return Buffer.from(lines.join(CRLF)).toString("latin1");
}

/** As the HTML standard has it: a percent sign is not escaped itself. */
function escapeName(text: string): string {
  return text.replaceAll("\r", "%0D").replaceAll("\n", "%0A").replaceAll('"', "%22");
}

/** What an escaped name says. Busboy does not undo it. */
export function unescapeName(text: string): string {
  return text.replaceAll("%22", '"').replaceAll("%0D", "\r").replaceAll("%0A", "\n");
}

function toPart({ name, filename, type = "text/plain", content }: Written): Part {
  const [essence = ""] = type.split(";", 1);
  return {
    name: unescapeName(escapeName(name)),
    filename: filename && unescapeName(escapeName(filename)),
    type: essence.toLowerCase(),
    content,
  };
}

/** Cuts bytes into chunks of these lengths, over and over. */
export function cutInto(bytes: Uint8Array, lengths: readonly number[]): readonly Uint8Array[] {
  const chunks: Uint8Array[] = [];
  for (let at = 0, turn = 0; at < bytes.byteLength; turn++) {
    const length = lengths[turn % lengths.length] as number;
    chunks.push(bytes.subarray(at, at + length));
    at += length;
  }
  return chunks;
}

/** Whole forms, cut anywhere. */
export const forms: fc.Arbitrary<WrittenForm> = boundary.chain((boundary) =>
  fc
    .record({
      written: fc.array(partBeside(boundary), { maxLength: 8 }),
      preamble: fc.constantFrom("", "", "a preamble\r\n", "--\r\n\r\n"),
      epilogue: fc.constantFrom("", CRLF, "\r\nan epilogue", " \r\n-"),
      lengths: fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 5 }),
    })
    .map(({ written, preamble, epilogue, lengths }) => {
      const parts = written.map((part) => `--${boundary}${CRLF}${toHead(part)}${CRLF}${CRLF}${part.content}${CRLF}`);
      const body = `${preamble}${parts.join("")}--${boundary}--${epilogue}`;
      return {
        type: `multipart/form-data; boundary="${boundary}"`,
        chunks: cutInto(Buffer.from(body, "latin1"), lengths),
        parts: written.map(toPart),
      };
    }),
);
