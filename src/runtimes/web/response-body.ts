import { type ChunkReader, toBytes } from "../chunk-reader.ts";

/*
 * Bodies of answers for runtimes that take a `Response`: what `../node/send-stream.ts` promises on Node. A body that is not whole is
 * answered 500 before its first bytes and breaks the connection behind them; it never looks complete.
 */

/** A body on its way out: whole, or begun. */
export type ResponseBody = Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;

/** How a body is opened. */
export interface ResponseBodyOptions {
  /** The length that the answer promises, in bytes. */
  readonly length: number | undefined;
  /** What is promised to be no longer is read whole before the answer begins. */
  readonly wholeBytes: number;
  /** Aborted when the client has gone: nobody waits for the body's first bytes any more. */
  readonly signal?: AbortSignal | undefined;
  /** Called when the client lets go of the body before its end. */
  readonly onCancel?: (reason: unknown) => void;
}

/**
 * Reads the body as far as is needed to know that it can be answered with. @throws what its source throws, RangeError for a length that is not the promised one, the
 * reason of the signal where the client has gone before.
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
    if (length !== undefined && length <= wholeBytes) return await readWhole(reader, length);
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

async function readWhole(reader: ChunkReader, length: number): Promise<Uint8Array<ArrayBuffer>> {
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

/** The rest of a body behind its first chunk. The chunk that completes the length is kept back until the source has ended well. */
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

/** The next chunk that is not empty; `undefined` at the end. */
async function nextChunk(reader: ChunkReader): Promise<Uint8Array | undefined> {
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return undefined;
    if (!ArrayBuffer.isView(value)) throw new TypeError("A body chunk is not made of bytes.");
    if (value.byteLength > 0) return toBytes(value);
  }
}
