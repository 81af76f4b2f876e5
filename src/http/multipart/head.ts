import { decodeUtf8 } from "../../platform/utf8.ts";
import { HttpError } from "../http-error.ts";

/** What the head of a part says (RFC 7578 4.2). */
export interface PartHead {
  readonly name: string;
  /** Of a file; empty where a browser's file input has none. */
  readonly filename?: string;
  readonly contentType?: string;
}

const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
/** One parameter, or none, behind its semicolon. It can match in one way only. */
const PARAMETER = new RegExp(`[ \\t]*;[ \\t]*(?:(${TOKEN})=(?:"([^"]*)"|([^\\x00-\\x20"(),;<>@\\\\\\x7f]+)))?`, "y");
const BLANKS = /^[ \t]*$/;
/** RFC 2046 5.1.1. */
const BOUNDARY = /^[0-9A-Za-z'()+_,./:=? -]{0,69}[0-9A-Za-z'()+_,./:=?-]$/;
const FIELD_NAME = new RegExp(`^${TOKEN}$`);
/** No browser sends more than three of either; judging thousands of them, in a thousand parts, would hold up others. */
const MAX_PARAMETERS = 16;
const MAX_FIELDS = 32;
const BREAKS = /[\0\r\n]/;
const PLAIN_ENCODINGS: readonly string[] = ["7bit", "8bit", "binary"];

/**
 * The boundary of a `multipart/form-data` value (RFC 2046 5.1.1).
 * @throws HttpError `malformed` without exactly one that is valid.
 */
export function parseBoundary(contentType: string): string {
  const boundary = parseParameters(contentType, "multipart/form-data")?.get("boundary");
  if (boundary === undefined || !BOUNDARY.test(boundary)) throw malformed("has no valid boundary");
  return boundary;
}

/**
 * Reads the head of a part, without the empty line at its end and with what stands behind the boundary on its line.
 * @throws HttpError `malformed` for anything but blanks there, and fields in UTF-8 of which one is `Content-Disposition: form-data` with a name.
 */
export function parsePartHead(bytes: Uint8Array): PartHead {
  const [padding = "", ...lines] = decode(bytes).split("\r\n");
  if (!BLANKS.test(padding)) throw malformed("has unexpected text after a boundary");
  const fields = readFields(lines);
  const parameters = parseParameters(fields.get("content-disposition") ?? "", "form-data") ?? new Map<string, string>();
  const name = parameters.get("name");
  if (name === undefined) throw malformed("has a part without a name");
  // RFC 7578 4.2 forbids it: a second name of the same file, in another spelling.
  if (parameters.has("filename*")) throw malformed("has a part with a filename* parameter (RFC 7578 4.2)");
  if (!PLAIN_ENCODINGS.includes(fields.get("content-transfer-encoding")?.toLowerCase() ?? "binary")) {
    throw malformed("has a part with a Content-Transfer-Encoding");
  }
  const filename = parameters.get("filename");
  const contentType = fields.get("content-type");
  return {
    name: unescapeName(name),
    ...(filename !== undefined && { filename: unescapeName(filename) }),
    ...(contentType !== undefined && { contentType }),
  };
}

function readFields(lines: readonly string[]): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(colon, 0)).toLowerCase();
    if (fields.size === MAX_FIELDS) throw malformed("has a part with malformed headers");
    if (!FIELD_NAME.test(name) || BREAKS.test(line) || fields.has(name))
      throw malformed("has a part with malformed headers");
    fields.set(name, line.slice(colon + 1).trim());
  }
  return fields;
}

/**
 * The parameters behind a type, by their names in lower case; `undefined` when the type is another one, or they cannot be read. A backslash in quotes stands for
 * itself, as browsers send it.
 */
function parseParameters(value: string, type: string): ReadonlyMap<string, string> | undefined {
  if (value.slice(0, type.length).toLowerCase() !== type) return undefined;
  const parameters = new Map<string, string>();
  for (let at = type.length; ; at = PARAMETER.lastIndex) {
    PARAMETER.lastIndex = at;
    const match = PARAMETER.exec(value);
    if (match === null) return BLANKS.test(value.slice(at)) ? parameters : undefined;
    // One semicolon too many, at the end, is common: a parameter without a name. More of them are nobody's.
    const name = match[1]?.toLowerCase() ?? "";
    if (parameters.has(name) || parameters.size === MAX_PARAMETERS) return undefined;
    parameters.set(name, match[2] ?? match[3] ?? "");
  }
}

/** The three escapes of the HTML standard's multipart encoding; a percent sign is not escaped itself. */
function unescapeName(text: string): string {
  return text.replaceAll("%22", '"').replaceAll("%0D", "\r").replaceAll("%0A", "\n");
}

function decode(bytes: Uint8Array): string {
  const text = decodeUtf8(bytes);
  if (text === undefined) throw malformed("has a part whose headers are not valid UTF-8");
  return text;
}

function malformed(what: string): HttpError {
  return new HttpError("malformed", `The form ${what}.`);
}
