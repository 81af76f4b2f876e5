import { type ByteSource, toByteSource } from "../contracts/byte-source.ts";
import { createChangedError, type EncodedContent } from "./content.ts";
import { crc32 } from "./crc32.ts";

/** How many bytes are compressed at a time. The compressor keeps each such part for a while: none can be used twice. */
const PART_BYTES = 65_536;

/** Whether the runtime can compress: not every one on the edge can. */
export function canDeflate(): boolean {
  return typeof CompressionStream === "function";
}

/** A content of `size` bytes, compressed as it is read: a part of it is held, and what the compressor keeps. */
export function createDeflated(source: ByteSource, size: number): EncodedContent {
  let left = size;
  let crc = 0;
  let storedSize = 0;
  let isClosed = false;
  let failure: { readonly reason: unknown } | undefined;

  async function pull(controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>): Promise<void> {
    try {
      if (isClosed) throw createChangedError();
      const part = new Uint8Array(PART_BYTES);
      const count = await source.readInto(part);
      left -= count;
      if (left < 0 || (count === 0 && left > 0)) throw createChangedError();
      if (count === 0) return controller.close();
      const bytes = part.subarray(0, count);
      crc = crc32(bytes, crc);
      controller.enqueue(bytes);
    } catch (reason) {
      failure = { reason };
      throw reason;
    }
  }

  const plain = new ReadableStream({ pull, cancel: () => source.close() }, { highWaterMark: 0 });
  const deflated = toByteSource(plain.pipeThrough(new CompressionStream("deflate-raw")));

  async function readInto(buffer: Uint8Array): Promise<number> {
    try {
      const count = await deflated.readInto(buffer);
      storedSize += count;
      return count;
    } catch (error) {
      // The compressor tells of its input's failure in words of its own.
      throw failure === undefined ? error : failure.reason;
    }
  }

  /** Node's compressor does not tell its input that nobody reads any more: it would be read to its end. */
  async function close(): Promise<void> {
    isClosed = true;
    deflated.close().catch(() => undefined);
    await source.close();
  }

  return { readInto, close, written: () => ({ crc, storedSize }) };
}
