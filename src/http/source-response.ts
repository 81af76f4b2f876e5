import { type ByteSource, toByteStream } from "../contracts/byte-source.ts";
import { Response } from "../platform/fetch.ts";

/** The member of a body that holds its source. A runtime that knows it reads the source without a stream. */
const SOURCE: unique symbol = Symbol.for("fileferry.byte-source");
const STREAM: unique symbol = Symbol("stream");

/** A body for the ponyfill's `Response`, which creates a stream of it only when code uses the stream. */
interface SourceBody extends AsyncIterable<Uint8Array> {
  readonly [SOURCE]: ByteSource;
}

/** Whether the fetch API is the ponyfill. Its `Response` keeps a body as it was given; the platform's own does not. */
export const usesPonyfill = "bodyInit" in new Response(null);

/** A response with its source, and the stream of the source once code has used it. */
interface SourceResponse extends Response {
  [SOURCE]?: ByteSource;
  [STREAM]?: ReadableStream<Uint8Array>;
}

/**
 * The ponyfill's own stream releases nothing if it is cancelled before the first read. All responses share one getter:
 * see docs/decisions/0007-memory.md.
 */
const lazyBody = {
  get(this: SourceResponse) {
    this[STREAM] ??= toByteStream(this[SOURCE] as ByteSource);
    return this[STREAM];
  },
};

/**
 * The ponyfill's own `text`, which `json` also uses, writes the numbers of the bytes if the body is a single chunk that
 * is not a `Buffer`.
 */
const ownText = {
  async value(this: Response) {
    return new TextDecoder().decode(await this.arrayBuffer());
  },
};

/**
 * A response whose body is read from a source. The platform's own `Response` gets a stream; the ponyfill creates the
 * stream only when code uses it.
 */
export function createSourceResponse(source: ByteSource, init: ResponseInit): Response {
  if (!usesPonyfill) return new Response(toByteStream(source), init);
  const body: SourceBody = { [SOURCE]: source, [Symbol.asyncIterator]: () => iterate(source) };
  const response: SourceResponse = new Response(body as unknown as BodyInit, init);
  response[SOURCE] = source;
  return Object.defineProperties(response, { body: lazyBody, text: ownText });
}

/** A response whose body is a stream. */
export function createStreamResponse(body: ReadableStream<Uint8Array>, init: ResponseInit): Response {
  const response = new Response(body, init);
  return usesPonyfill ? Object.defineProperty(response, "text", ownText) : response;
}

/** The source of a body that {@link createSourceResponse} created; `undefined` for any other body. */
export function findSource(body: object): ByteSource | undefined {
  return SOURCE in body ? (body as SourceBody)[SOURCE] : undefined;
}

/** This is not a generator: a generator that was never started would not close the source. */
function iterate(source: ByteSource): AsyncIterator<Uint8Array> {
  const reader = toByteStream(source).getReader();
  return {
    next: async () => {
      const { done, value } = await reader.read();
      return done ? { done, value: undefined } : { done, value };
    },
    return: async () => {
      await reader.cancel();
      return { done: true, value: undefined };
    },
  };
}
