import { type ByteSource, toByteStream } from "../contracts/byte-source.ts";
import { Response } from "../platform/fetch.ts";

/** Under this name a body of ours has what it is made of, for a runtime that can read it without a stream. */
const SOURCE: unique symbol = Symbol.for("fileferry.byte-source");
const STREAM: unique symbol = Symbol("stream");

/** What the light `Response` takes for a body: it is only made a stream of when somebody asks for that. */
interface SourceBody extends AsyncIterable<Uint8Array> {
  readonly [SOURCE]: ByteSource;
}

/** Whether the fetch API is the light one, whose `Response` keeps a body as it was given, which the platform's own do not. */
export const usesPonyfill = "bodyInit" in new Response(null);

/** A response of ours, and the stream of its source, once it was asked for. */
interface SourceResponse extends Response {
  [SOURCE]?: ByteSource;
  [STREAM]?: ReadableStream<Uint8Array>;
}

/** The light one's own stream lets go of nothing when it is cancelled before the first read. One getter for all: see docs/decisions/0007-memory.md. */
const lazyBody = {
  get(this: SourceResponse) {
    this[STREAM] ??= toByteStream(this[SOURCE] as ByteSource);
    return this[STREAM];
  },
};

/** The light one's own `text`, which `json` asks, writes out the numbers of a body of one chunk that is no `Buffer`. */
const ownText = {
  async value(this: Response) {
    return new TextDecoder().decode(await this.arrayBuffer());
  },
};

/** A response whose body is read from a source: a standard stream wherever the platform's own `Response` is in use, and where the light one is asked for it. */
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

/** The source that a body was made of by {@link createSourceResponse}, if it was. */
export function findSource(body: object): ByteSource | undefined {
  return SOURCE in body ? (body as SourceBody)[SOURCE] : undefined;
}

/** No generator: one that was never started would not close the source. */
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
