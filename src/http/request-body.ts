import { createUtf8Decoder } from "../platform/utf8.ts";
import { createConsumedBodyError, isConsumed, isConsumedBodyError } from "./body-already-read.ts";
import { parseBoundedJson } from "./bounded-json.ts";
import { HttpError } from "./http-error.ts";

/** What a JSON body of ours may hold at most, in bytes, unless its endpoint says otherwise (CONTRACT 4.5). */
const MAX_BODY_BYTES = 1024 * 1024;
/** So much of a body is held for anybody. */
const SMALL_BODY_BYTES = 16 * 1024;
/** Members of one list or object: enough for a thousand commands. */
const MAX_MEMBERS = 1000;
/** A command with its target in a list of its own is four values. */
const VALUES_OF_MEMBER = 5;
/** Fields of a form of ours: the largest has three, and browsers add some. */
const MAX_FIELDS = 100;

/** The announced length in bytes; `undefined` when it is not announced. @throws HttpError `malformed` for anything but digits. */
export function readContentLength(headers: Headers): number | undefined {
  const value = headers.get("content-length");
  if (value === null) return undefined;
  if (!/^\d{1,15}$/.test(value)) throw new HttpError("malformed", "The Content-Length header is not a number.");
  return Number(value);
}

/**
 * Whether a request brings at least one byte of content, or an unknown number of them. Where its header does not say, its body is read up to the first
 * byte: there are hosts that give one to every request (RFC 9112 6.3, 9113 8.1).
 */
export async function hasContent(request: Request): Promise<boolean> {
  const { headers, body } = request;
  const length = readContentLength(headers);
  if (length !== undefined) return length > 0;
  if (headers.has("transfer-encoding")) return true;
  if (body === null) return false;
  for await (const chunk of readBody(request)) if (chunk.byteLength > 0) return true;
  return false;
}

/** What a JSON body may hold. */
export interface JsonBodyLimits {
  /** Default: 1 MiB. */
  readonly maxBytes?: number;
  /** Members of one list or object, and five times as many values in all. Default, and at least: 1,000. */
  readonly maxMembers?: number;
  /** Makes the failure of a body that holds more values. Default: one that says so. */
  readonly toTooLarge?: () => HttpError;
  /** Hears how large a body of more than 16 KiB is said to be, where that is said, before it is read, and may refuse it by throwing. */
  readonly onAnnounced?: (bytes: number) => void;
  /** Hears how much has come of one before that is held, with each piece beyond 16 KiB, and may refuse it by throwing. */
  readonly onLarge?: (bytes: number) => void;
}

/**
 * Reads a JSON body whole. What it may hold is bounded before any schema sees it: members, values, and 100 of them inside each other.
 * @throws HttpError `too-large` above `maxBytes`, `malformed` when it is not JSON in UTF-8, `unsupported-media-type` when it is coded, and what `toTooLarge` makes when it holds more.
 */
export async function readJsonBody(request: Request, limits: JsonBodyLimits = {}): Promise<unknown> {
  const { maxBytes = MAX_BODY_BYTES, toTooLarge = toTooLargeDefault } = limits;
  const maxMembers = Math.max(limits.maxMembers ?? 0, MAX_MEMBERS);
  const parsed = parseBoundedJson(await readText(request, { ...limits, maxBytes }), {
    maxMembers,
    maxValues: VALUES_OF_MEMBER * maxMembers,
  });
  if ("value" in parsed) return parsed.value;
  if (!parsed.isJson) throw new HttpError("malformed", "The body is not valid JSON.");
  throw toTooLarge();
}

function toTooLargeDefault(): HttpError {
  return new HttpError("malformed", "The body has too many values, or they are nested too deeply.");
}

/**
 * Reads an `application/x-www-form-urlencoded` body whole.
 * @throws HttpError `too-large` above `maxBytes`, `malformed` when it is not UTF-8 or has more than 100 fields, `unsupported-media-type` when it is coded.
 */
export async function readFormBody(request: Request, maxBytes: number): Promise<URLSearchParams> {
  const text = await readText(request, { maxBytes });
  if (text.split("&", MAX_FIELDS + 1).length > MAX_FIELDS) {
    throw new HttpError("malformed", `The form has more than ${MAX_FIELDS} fields.`);
  }
  return new URLSearchParams(text);
}

/**
 * Refuses coded content, such as with `gzip`: nothing is decoded here, and stored as it comes it would be served as if it were the content (RFC 9110 8.4).
 * @throws HttpError `unsupported-media-type`, saying what is taken (RFC 9110 15.5.16).
 */
export function refuseContentEncoding(headers: Headers): void {
  if ((headers.get("content-encoding") ?? "identity").toLowerCase() === "identity") return;
  throw new HttpError("unsupported-media-type", "Content-Encoding is not supported.", {
    "Accept-Encoding": "identity",
  });
}

async function readText(
  request: Request,
  { maxBytes, onAnnounced, onLarge }: JsonBodyLimits & { readonly maxBytes: number },
): Promise<string> {
  refuseContentEncoding(request.headers);
  const announced = readContentLength(request.headers) ?? 0;
  if (announced > maxBytes) throw tooLarge(maxBytes);
  if (announced > SMALL_BODY_BYTES) onAnnounced?.(announced);
  const decoder = createUtf8Decoder("remove");
  let text = "";
  let size = 0;
  for await (const chunk of readBody(request)) {
    size += chunk.byteLength;
    if (size > maxBytes) throw tooLarge(maxBytes);
    if (size > SMALL_BODY_BYTES) onLarge?.(size);
    text += decode(decoder, chunk);
  }
  return text + decode(decoder);
}

/**
 * The body's chunks; none without a body.
 * Throws HttpError `malformed` when the body breaks off: no defect of ours, and mostly nobody is left to hear of it. HttpError `internal`, which is reported, when
 * somebody has read it before: the host has to be told.
 */
export async function* readBody(request: Request): AsyncGenerator<Uint8Array> {
  if (isConsumed(request)) throw toConsumed(createConsumedBodyError());
  if (request.body === null) return;
  try {
    yield* request.body as unknown as AsyncIterable<Uint8Array>;
  } catch (cause) {
    if (isConsumedBodyError(cause)) throw toConsumed(cause);
    throw new HttpError("malformed", "The request's body is incomplete.", {}, { cause });
  }
}

function toConsumed(cause: Error): HttpError {
  return new HttpError("internal", "The request's body was read before it reached the service.", {}, { cause });
}

function decode(decoder: TextDecoder, chunk?: Uint8Array): string {
  try {
    return chunk === undefined ? decoder.decode() : decoder.decode(chunk, { stream: true });
  } catch {
    throw new HttpError("malformed", "The body is not valid UTF-8.");
  }
}

function tooLarge(maxBytes: number): HttpError {
  return new HttpError("too-large", `The body is larger than ${maxBytes} bytes.`);
}
