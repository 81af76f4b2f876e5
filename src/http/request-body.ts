import { type Steps, watchSteps } from "../contracts/watch-steps.ts";
import { createByteCollector } from "../platform/byte-collector.ts";
import { decodeUtf8 } from "../platform/utf8.ts";
import { createBodyReadError, isBodyRead, isBodyReadError } from "./body-already-read.ts";
import { parseBoundedJson } from "./bounded-json.ts";
import { createError } from "./errors.ts";
import type { HttpError } from "./http-error.ts";

/** Maximum size of a JSON body in bytes, unless its endpoint has another limit (CONTRACT 4.5). */
const DEFAULT_MAX_BYTES = 1024 * 1024;
/** Bodies up to this number of bytes are read without a call of `onAnnounced` or `onLarge`. */
const SMALL_BODY_BYTES = 16 * 1024;
/** Maximum number of members of one list or object, enough for a thousand commands. */
const MAX_MEMBERS = 1000;
/** A command, and its members, of which it has at most four. Several targets are a list of their own. */
const VALUES_OF_MEMBER = 5;
const NOTHING: AsyncIterable<Uint8Array> = { [Symbol.asyncIterator]: () => ({ next: async () => DONE }) };
const DONE = { done: true, value: undefined } as const;
/** Maximum number of fields of a form. The service's largest form has three, and browsers add a few. */
const MAX_FIELDS = 100;

/** The body of a request that an adapter has made: reading it takes less than half as long as `request.body`. */
export interface DirectBody extends AsyncIterable<Uint8Array> {
  /** Whether it has a reader already: the only one, which may also be `request.body`. */
  isTaken(): boolean;
}

/** The property of a request for its {@link DirectBody}, if it has one. */
export const directBody = Symbol("directBody");

/** The direct body, unless it has a reader already. */
function findDirectBody(request: Request & { readonly [directBody]?: DirectBody }): DirectBody | undefined {
  const body = request[directBody];
  return body?.isTaken() === false ? body : undefined;
}

/** Whether a request has a body, of any size. Does not take it. */
export function carriesBody(request: Request): boolean {
  return findDirectBody(request) !== undefined || request.body !== null;
}

/**
 * The announced length in bytes; `undefined` if it is not announced.
 * @throws HttpError `malformed` for anything but digits.
 */
export function readContentLength(headers: Headers): number | undefined {
  const value = headers.get("content-length");
  if (value === null) return undefined;
  if (!/^\d{1,15}$/.test(value)) throw createError("content-length-invalid");
  return Number(value);
}

/**
 * Whether a request has at least one byte of content. If the header fields do not say, this reads the body up to its
 * first byte: some runtimes give a body to every request, and some proxies send a request without content in chunks
 * (RFC 9112 6.3, 9113 8.1). Only requests with content expect 100 (Continue) (RFC 9110 10.1.1).
 */
export async function hasContent(request: Request): Promise<boolean> {
  const { headers } = request;
  const length = readContentLength(headers);
  if (length !== undefined) return length > 0;
  if (!carriesBody(request)) return false;
  if (headers.has("expect")) return true;
  for await (const chunk of readBody(request)) if (chunk.byteLength > 0) return true;
  return false;
}

/** The limits of a body that is held in memory. */
export interface BodyLimits {
  /** Default: 1 MiB. */
  readonly maxBytes?: number;
  /**
   * Called before a body is read that announces more than 16 KiB, with its announced size. It may refuse the body by
   * throwing.
   */
  readonly onAnnounced?: (bytes: number) => void;
  /**
   * Called before a chunk is held that makes the body larger than 16 KiB, with the size so far. It may refuse the body
   * by throwing.
   */
  readonly onLarge?: (bytes: number) => void;
}

/** The limits of a JSON body. */
export interface JsonBodyLimits extends BodyLimits {
  /**
   * Maximum number of members of one list or object. All of them together may have five times as many values. Minimum
   * and default: 1,000.
   */
  readonly maxMembers?: number;
  /** Creates the error for a body with too many values. Default: a general one. */
  readonly toTooLarge?: () => HttpError;
}

/**
 * Reads a complete JSON body. The number of members and values and the depth of 100 are checked before any schema sees
 * the body.
 * @throws HttpError `too-large` for more than `maxBytes`, `malformed` if it is not JSON in UTF-8,
 * `unsupported-media-type` if it has a content encoding, and the error of `toTooLarge` if it has too many values.
 */
export async function readJsonBody(request: Request, limits: JsonBodyLimits = {}): Promise<unknown> {
  const { toTooLarge = toTooLargeDefault } = limits;
  const maxMembers = Math.max(limits.maxMembers ?? 0, MAX_MEMBERS);
  const parsed = parseBoundedJson(await readText(request, limits), {
    maxMembers,
    maxValues: VALUES_OF_MEMBER * maxMembers,
  });
  if ("value" in parsed) return parsed.value;
  if (!parsed.exceedsLimit) throw createError("body-not-json");
  throw toTooLarge();
}

function toTooLargeDefault(): HttpError {
  return createError("body-too-complex");
}

/** The limits of a form. */
export interface FormBodyLimits extends BodyLimits {
  /** Default: 100. */
  readonly maxFields?: number;
}

/**
 * Reads a complete `application/x-www-form-urlencoded` body.
 * @throws HttpError `too-large` for more than `maxBytes`, `malformed` if it is not UTF-8 or has more than `maxFields`
 * fields, `unsupported-media-type` if it has a content encoding.
 */
export async function readFormBody(request: Request, limits: FormBodyLimits): Promise<URLSearchParams> {
  const text = await readText(request, limits);
  const { maxFields = MAX_FIELDS } = limits;
  if (text.split("&", maxFields + 1).length > maxFields) {
    throw createError("form-too-many-fields", { values: { max: maxFields } });
  }
  return new URLSearchParams(text);
}

/**
 * Rejects a `Content-Encoding` other than `identity`. Nothing is decoded here, and encoded bytes would later be served
 * as the content (RFC 9110 8.4).
 * @throws HttpError `unsupported-media-type`, with an `Accept-Encoding` field (RFC 9110 15.5.16).
 */
export function requireNoContentEncoding(headers: Headers): void {
  if ((headers.get("content-encoding") ?? "identity").toLowerCase() === "identity") return;
  throw createError("content-encoding-unsupported", { headers: { "Accept-Encoding": "identity" } });
}

async function readText(
  request: Request,
  { maxBytes = DEFAULT_MAX_BYTES, onAnnounced, onLarge }: BodyLimits,
): Promise<string> {
  requireNoContentEncoding(request.headers);
  const announced = readContentLength(request.headers) ?? 0;
  if (announced > maxBytes) throw tooLarge(maxBytes);
  if (announced > SMALL_BODY_BYTES) onAnnounced?.(announced);
  const collector = createByteCollector();
  let size = 0;
  for await (const chunk of readBody(request)) {
    size += chunk.byteLength;
    if (size > maxBytes) throw tooLarge(maxBytes);
    if (size > SMALL_BODY_BYTES) onLarge?.(size);
    collector.add(chunk);
  }
  const text = decodeUtf8(collector.bytes(), "remove");
  if (text === undefined) throw createError("body-not-utf8");
  return text;
}

/**
 * The chunks of the body; none without a body. Throws HttpError `malformed` if the body breaks off: this is not a
 * defect of the service, and the client has usually disconnected. Throws HttpError `internal`, which is logged, if
 * other code has read the body before: the operator must fix the order of middleware.
 */
export function readBody(request: Request): Steps<Uint8Array> {
  return watchSteps(() => findBody(request), { toError: toBodyError });
}

function findBody(request: Request): AsyncIterable<Uint8Array> {
  const direct = findDirectBody(request);
  if (direct !== undefined) return direct;
  if (isBodyRead(request)) throw toConsumed(createBodyReadError());
  return (request.body as unknown as AsyncIterable<Uint8Array> | null) ?? NOTHING;
}

function toBodyError(cause: unknown): HttpError {
  if (isBodyReadError(cause)) return toConsumed(cause);
  return createError("body-incomplete", { cause });
}

function toConsumed(cause: Error): HttpError {
  return createError("body-already-read", { cause });
}

function tooLarge(maxBytes: number): HttpError {
  return createError("body-too-large", { values: { max: maxBytes } });
}
