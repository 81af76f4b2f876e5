import { type ChunkReader, toBytes } from "../chunk-reader.ts";

/*
 * Response bodies for runtimes that take a `Response`, with the guarantees of `../node/send-stream.ts`: an incomplete
 * body is a 500 before its first bytes, and breaks the connection after them. It never looks complete.
 */

/** An opened body: complete, or as a stream that has its first bytes. */
export type ResponseBody = Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;

/** How a body is opened. */
export interface ResponseBodyOptions {
  /** The length that the response promises, in bytes. */
  readonly length: number | undefined;
  /** A body up to this length is read completely before the response starts. Bytes. */
  readonly wholeBytes: number;
  /** Aborts when the client disconnects, which stops the wait for the first bytes. */
  readonly signal?: AbortSignal | undefined;
  /** Called when the client cancels the body before its end. */
  readonly onCancel?: (reason: unknown) => void;
}

/**
 * Reads enough of a body to know that the response can start: all of a short one, or the first chunk.
 * @throws the error of the source, RangeError if the length is not the promised one, or the signal's reason if the
 * client has disconnected.
 */
export async function openResponseBody(
  reader: Uint8Array | ChunkReader,
  options: ResponseBodyOptions,
): Promise<ResponseBody> {
  const { length, wholeBytes, signal } = options;
  if ("byteLength" in reader) {
    if (length !== undefined && reader.byteLength !== length)
      throw new RangeError("The body does not have Content-Length bytes");
    return reader as Uint8Array<ArrayBuffer>;
  }
  const release = (): void => void reader.cancel(signal?.reason).catch(() => undefined);
  try {
    signal?.throwIfAborted();
    signal?.addEventListener("abort", release);
    if (length !== undefined && length <= wholeBytes) return await readComplete(reader, length);
    const first = await nextChunk(reader);
    if (first !== undefined) return toExactStream(reader, first, options);
    if (length !== undefined) throw new RangeError("The body has fewer bytes than Content-Length");
    return new Uint8Array(0);
  } catch (error) {
    reader.cancel(error).catch(() => undefined);
    throw error;
  } finally {
    signal?.removeEventListener("abort", release);
  }
}

async function readComplete(reader: ChunkReader, length: number): Promise<Uint8Array<ArrayBuffer>> {
  const whole = new Uint8Array(length);
  let count = 0;
  for (let chunk = await nextChunk(reader); chunk !== undefined; chunk = await nextChunk(reader)) {
    if (count + chunk.byteLength > length) throw new RangeError("The body has more bytes than Content-Length");
    whole.set(chunk, count);
    count += chunk.byteLength;
  }
  if (count < length) throw new RangeError("The body has fewer bytes than Content-Length");
  return whole;
}

/**
 * A stream of a body whose first chunk was read. Holds the chunk that completes the length until the source has ended.
 */
function toExactStream(
  reader: ChunkReader,
  first: Uint8Array,
  { length = Number.POSITIVE_INFINITY, onCancel }: ResponseBodyOptions,
): ReadableStream<Uint8Array> {
  let firstChunk: Uint8Array | undefined = first;
  let count = 0;

  async function next(): Promise<Uint8Array | undefined> {
    const chunk = firstChunk ?? (await nextChunk(reader));
    firstChunk = undefined;
    count += chunk?.byteLength ?? 0;
    const isEnd = chunk === undefined || (count === length && (await nextChunk(reader)) === undefined);
    if (isEnd ? count < length && length !== Number.POSITIVE_INFINITY : count >= length) {
      throw new RangeError("The body does not have Content-Length bytes");
    }
    return chunk;
  }

  async function pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    try {
      const chunk = await next();
      if (chunk !== undefined) controller.enqueue(chunk);
      if (chunk === undefined || count === length) controller.close();
    } catch (error) {
      reader.cancel(error).catch(() => undefined);
      throw error;
    }
  }

  async function cancel(reason: unknown): Promise<void> {
    onCancel?.(reason);
    await reader.cancel(reason);
  }

  return new ReadableStream<Uint8Array>({ pull, cancel }, { highWaterMark: 0 });
}

/** The next non-empty chunk; `undefined` at the end. */
async function nextChunk(reader: ChunkReader): Promise<Uint8Array | undefined> {
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return undefined;
    if (!ArrayBuffer.isView(value)) throw new TypeError("A body chunk is not made of bytes.");
    if (value.byteLength > 0) return toBytes(value);
  }
}
