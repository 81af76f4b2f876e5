import type { ByteSource } from "../contracts/byte-source.ts";
import { createChangedError, type EncodedContent } from "./content.ts";
import { crc32 } from "./crc32.ts";

/**
 * How many bytes are compressed at a time. Each chunk needs its own buffer, because the compressor keeps it for a
 * while.
 */
const CHUNK_BYTES = 32_768;
const EMPTY = new Uint8Array(0);

/** Returns whether the runtime can compress. Some edge runtimes cannot. */
export function canDeflate(): boolean {
  return typeof CompressionStream === "function";
}

/**
 * Compresses a content of `size` bytes while it is read. Memory holds one or two chunks of it, and what the compressor
 * keeps.
 *
 * The compressor gets a chunk only when no compressed bytes are left. A pipe would not do: the queue of Node's
 * compressor accepts about 16,000 chunks in advance.
 */
export function createDeflated(source: ByteSource, size: number): EncodedContent {
  const compressor = new CompressionStream("deflate-raw");
  const writer = compressor.writable.getWriter();
  const reader = compressor.readable.getReader();
  /** Compressed bytes that are not read yet. */
  const ready: Uint8Array[] = [];
  const collecting = collect();
  // `feed` awaits this promise at the end and throws its error; until then it must not be an unhandled rejection.
  collecting.catch(() => undefined);
  let left = size;
  let crc = 0;
  let storedSize = 0;
  let isEnded = false;
  let isClosed = false;

  async function collect(): Promise<void> {
    for (let next = await reader.read(); !next.done; next = await reader.read()) ready.push(next.value);
  }

  async function readInto(buffer: Uint8Array): Promise<number> {
    try {
      while (ready.length === 0 && !isEnded) await feed();
    } catch (error) {
      writer.abort(error).catch(() => undefined);
      throw error;
    }
    const [first = EMPTY] = ready;
    const part = first.subarray(0, buffer.byteLength);
    buffer.set(part);
    if (part.byteLength < first.byteLength) ready[0] = first.subarray(part.byteLength);
    else ready.shift();
    storedSize += part.byteLength;
    return part.byteLength;
  }

  async function feed(): Promise<void> {
    const chunk = new Uint8Array(CHUNK_BYTES);
    const count = await source.readInto(chunk);
    left -= count;
    if (isClosed || left < 0 || (count === 0 && left > 0)) throw createChangedError();
    if (count > 0) {
      const bytes = chunk.subarray(0, count);
      crc = crc32(bytes, crc);
      await writer.write(bytes);
      return;
    }
    await writer.close();
    await collecting;
    isEnded = true;
  }

  async function close(): Promise<void> {
    isClosed = true;
    writer.abort().catch(() => undefined);
    reader.cancel().catch(() => undefined);
    await source.close();
  }

  return { readInto, close, written: () => ({ crc, storedSize }) };
}
