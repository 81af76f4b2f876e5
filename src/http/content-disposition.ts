import { decodeExtended, encodeExtended, parse } from "content-disposition";
import { createError } from "./errors.ts";
import { readFieldText } from "./header-text.ts";

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
/** A type and its parameters (RFC 6266 4.1). It can match in only one way, so matching takes linear time. */
const DISPOSITION = new RegExp(`^${TOKEN}(?:[ \\t]*;[ \\t]*${TOKEN}=(?:${TOKEN}|"(?:[^"\\\\]|\\\\.)*"))*[ \\t]*$`);
const PARAMETER_NAME = new RegExp(`;[ \\t]*(${TOKEN})=(?:"(?:[^"\\\\]|\\\\.)*")?`, "g");

/**
 * A `Content-Disposition` that makes browsers save a file as `name`. It has a safe ASCII `filename` and the exact
 * `filename*` (RFC 6266, RFC 8187).
 */
export function toAttachment(name: string): string {
  return `attachment; ${toFilename(name)}`;
}

/** A `Content-Disposition` that lets browsers show a file, and save it as `name`. */
export function toInline(name: string): string {
  return `inline; ${toFilename(name)}`;
}

function toFilename(name: string): string {
  const fallback = name.replace(/[^ -~]+|["\\%]/g, "_");
  return `filename="${fallback}"; filename*=${encodeExtended(name)}`;
}

/**
 * The file name of a `Content-Disposition` of any type: `filename*` before `filename`, which is in UTF-8. Returns
 * `undefined` if there is none.
 * @throws HttpError `malformed` if the value is malformed, as that of two fields of this name is, or has a parameter
 * twice.
 */
export function parseFilename(value: string): string | undefined {
  const text = readFieldText(value);
  if (text === undefined || !DISPOSITION.test(text)) throw createError("upload-disposition-invalid");
  const names = [...text.matchAll(PARAMETER_NAME)].map(([, name]) => name?.toLowerCase());
  if (new Set(names).size < names.length) throw createError("upload-disposition-invalid");
  // The parser ignores a malformed `filename*` without a word.
  const { filename, "filename*": extended } = parse(text, { extended: false }).parameters;
  if (extended === undefined) return filename;
  const decoded = decodeExtended(extended);
  if (decoded === undefined) throw createError("upload-disposition-invalid");
  return decoded;
}
