import { HttpError } from "./http-error.ts";

/** What a body of ours may hold at most, in bytes, unless its endpoint allows less (CONTRACT 4.5). */
const MAX_BODY_BYTES = 1024 * 1024;

/** The announced length in bytes; `undefined` when it is not announced. @throws HttpError `malformed` for anything but digits. */
export function readContentLength(headers: Headers): number | undefined {
  const value = headers.get("content-length");
  if (value === null) return undefined;
  if (!/^\d{1,15}$/.test(value)) throw new HttpError("malformed", "The Content-Length header is not a number.");
  return Number(value);
}

/** Whether a request brings at least one byte of content, or an unknown number of them. */
export function hasContent(request: Request): boolean {
  const length = readContentLength(request.headers);
  return length === undefined ? request.body !== null : length > 0;
}

/**
 * Reads a JSON body whole.
 * @throws HttpError `too-large` above `maxBytes`, `malformed` when it is not JSON in UTF-8.
 */
export async function readJsonBody(request: Request, maxBytes: number = MAX_BODY_BYTES): Promise<unknown> {
  const text = await readText(request, maxBytes);
  try {
    return JSON.parse(text);
  } catch {
    throw new HttpError("malformed", "The body is not valid JSON.");
  }
}

/**
 * Reads an `application/x-www-form-urlencoded` body whole.
 * @throws HttpError `too-large` above `maxBytes`, `malformed` when it is not UTF-8.
 */
export async function readFormBody(request: Request, maxBytes: number = MAX_BODY_BYTES): Promise<URLSearchParams> {
  return new URLSearchParams(await readText(request, maxBytes));
}

async function readText(request: Request, maxBytes: number): Promise<string> {
  const announced = readContentLength(request.headers) ?? 0;
  if (announced > maxBytes) throw tooLarge(maxBytes);
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  let size = 0;
  for await (const chunk of readBody(request)) {
    size += chunk.byteLength;
    if (size > maxBytes) throw tooLarge(maxBytes);
    text += decode(decoder, chunk);
  }
  return text + decode(decoder);
}

/**
 * The body's chunks; none without a body.
 * Throws HttpError `malformed` when the body breaks off: no defect of ours, and mostly nobody is left to hear of it.
 */
export async function* readBody({ body }: Request): AsyncGenerator<Uint8Array> {
  if (body === null) return;
  try {
    yield* body as unknown as AsyncIterable<Uint8Array>;
  } catch (cause) {
    throw new HttpError("malformed", "The request's body broke off.", {}, { cause });
  }
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
