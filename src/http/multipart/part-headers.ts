import { cutText } from "../../platform/cut-text.ts";
import { decodeUtf8 } from "../../platform/utf8.ts";
import { createError } from "../errors.ts";
import { trimOptionalWhitespace } from "../optional-whitespace.ts";

/** The headers of a part (RFC 7578 4.2). */
export interface PartHeaders {
  readonly name: string;
  /** The name of a file. A browser's file input without a file sends an empty name. */
  readonly filename?: string;
  readonly contentType?: string;
  /** The fields with digests of the content. Absent: there are none. */
  readonly digestFields?: Headers;
}

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
/**
 * One parameter with its semicolon, or a semicolon alone. It can match in only one way, so matching takes linear time.
 */
const PARAMETER = new RegExp(`[ \\t]*;[ \\t]*(?:(${TOKEN})=(?:"([^"]*)"|([^\\x00-\\x20"(),;<>@\\\\\\x7f]+)))?`, "y");
const BLANKS = /^[ \t]*$/;
/** RFC 2046 5.1.1. */
const BOUNDARY = /^[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]$/;
const FIELD_NAME = new RegExp(`^${TOKEN}$`);
/**
 * Maximum numbers of parameters and of fields. No browser sends more than three; thousands of them in a thousand parts
 * would block other requests.
 */
const MAX_PARAMETERS = 16;
const MAX_FIELDS = 32;
const BREAKS = /[\0\r\n]/;
const DIGEST_FIELDS: readonly string[] = ["content-digest", "repr-digest"];
const PRINTABLE = /^[\x20-\x7e]*$/;
const PLAIN_ENCODINGS: readonly string[] = ["7bit", "8bit", "binary"];

/**
 * The boundary of a `multipart/form-data` value (RFC 2046 5.1.1).
 * @throws HttpError `malformed` unless it has exactly one valid boundary.
 */
export function parseBoundary(contentType: string): string {
  const boundary = parseParameters(contentType, "multipart/form-data")?.get("boundary");
  if (boundary === undefined || !BOUNDARY.test(boundary)) throw createError("form-boundary-invalid");
  return boundary;
}

/**
 * Parses the headers of a part. `bytes` are the rest of the boundary's line and the header lines, without the empty
 * line at the end.
 * @throws HttpError `malformed` unless the rest of the boundary's line is blank, the fields are UTF-8, and one of them
 * is `Content-Disposition: form-data` with a name.
 */
export function parsePartHeaders(bytes: Uint8Array): PartHeaders {
  const [padding = "", ...lines] = decode(bytes).split("\r\n");
  if (!BLANKS.test(padding)) throw createError("form-boundary-followed-by-text");
  const fields = readFields(lines);
  const parameters = parseParameters(fields.get("content-disposition") ?? "", "form-data");
  if (parameters === undefined) {
    throw createError("form-part-disposition-invalid");
  }
  const name = parameters.get("name");
  if (name === undefined) throw createError("form-part-name-missing");
  // RFC 7578 4.2 forbids `filename*`: it would be a second name of the same file.
  if (parameters.has("filename*")) throw createError("form-part-filename-extended");
  if (!PLAIN_ENCODINGS.includes(fields.get("content-transfer-encoding")?.toLowerCase() ?? "binary")) {
    throw createError("form-part-encoded");
  }
  const filename = parameters.get("filename");
  const contentType = fields.get("content-type");
  const digestFields = toDigestFields(fields);
  return {
    name: unescapeName(name),
    ...(filename !== undefined && { filename: unescapeName(filename) }),
    ...(contentType !== undefined && { contentType }),
    ...(digestFields && { digestFields }),
  };
}

function toDigestFields(fields: ReadonlyMap<string, string>): Headers | undefined {
  const found = [...fields].filter(([name]) => DIGEST_FIELDS.includes(name));
  if (found.length === 0) return undefined;
  // Other texts are no values of fields, and no digests either.
  return new Headers(found.map(([name, value]): [string, string] => [name, PRINTABLE.test(value) ? value : "?"]));
}

function readFields(lines: readonly string[]): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(colon, 0));
    // Only `name` can be checked to be a token: in lower case the Kelvin sign (U+212A) is a k.
    const key = name.toLowerCase();
    if (fields.size === MAX_FIELDS) throw createError("form-part-headers-malformed");
    if (!FIELD_NAME.test(name) || BREAKS.test(line) || fields.has(key))
      throw createError("form-part-headers-malformed");
    fields.set(key, trimOptionalWhitespace(line.slice(colon + 1)));
  }
  return fields;
}

/**
 * The parameters of a value by their names in lower case. Returns `undefined` if the value has another type or is
 * malformed. A backslash in quotes stands for itself, as browsers send it.
 */
function parseParameters(value: string, type: string): ReadonlyMap<string, string> | undefined {
  if (value.slice(0, type.length).toLowerCase() !== type) return undefined;
  const parameters = new Map<string, string>();
  for (let at = type.length; ; at = PARAMETER.lastIndex) {
    PARAMETER.lastIndex = at;
    const match = PARAMETER.exec(value);
    if (match === null) return BLANKS.test(value.slice(at)) ? parameters : undefined;
    // One superfluous semicolon at the end is common: it is a parameter without a name. More of them are malformed.
    const name = match[1]?.toLowerCase() ?? "";
    if (parameters.has(name) || parameters.size === MAX_PARAMETERS) return undefined;
    parameters.set(name, match[2] ?? match[3] ?? "");
  }
}

/**
 * Decodes the three escapes of the HTML standard's multipart encoding. Browsers do not escape a percent sign. The name
 * is a text of its own: it may stay in memory longer than the headers that it comes from.
 */
function unescapeName(text: string): string {
  return cutText(text).replaceAll("%22", '"').replaceAll("%0D", "\r").replaceAll("%0A", "\n");
}

function decode(bytes: Uint8Array): string {
  const text = decodeUtf8(bytes);
  if (text === undefined) throw createError("form-part-headers-not-utf8");
  return text;
}
