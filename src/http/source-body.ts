import { type ByteSource, toByteStream } from "../contracts/byte-source.ts";
import { Response } from "./fetch.ts";

/** Under this name a body of ours has what it is made of, for a runtime that can read it without a stream. */
const SOURCE: unique symbol = Symbol.for("fileferry.byte-source");

/** What the light `Response` takes for a body: it is only made a stream of when somebody asks for that. */
interface SourceBody extends AsyncIterable<Uint8Array> {
  readonly [SOURCE]: ByteSource;
}

/** Whether a `Response` keeps a body as it was given, which the platform's own do not. */
const isLight = "bodyInit" in new Response(null);

/** The body of a response that is read from a source: a standard stream wherever the platform's own `Response` is in use. */
export function toSourceBody(source: ByteSource): BodyInit {
  if (!isLight) return toByteStream(source);
  const body: SourceBody = { [SOURCE]: source, [Symbol.asyncIterator]: () => iterate(source) };
  return body as unknown as BodyInit;
}

/** The source that a body was made of by {@link toSourceBody}, if it was. */
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
