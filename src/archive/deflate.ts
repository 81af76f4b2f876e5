import type { ByteSource } from "../contracts/byte-source.ts";
import { createChangedError, type EncodedContent } from "./content.ts";
import { crc32 } from "./crc32.ts";

/** How many bytes are compressed at a time. The compressor keeps each such part for a while: none can be used twice. */
const PART_BYTES = 65_536;
const NOTHING = new Uint8Array(0);

/** Whether the runtime can compress: not every one on the edge can. */
export function canDeflate(): boolean {
  return typeof CompressionStream === "function";
}

/**
 * A content of `size` bytes, compressed as it is read: a part or two of it are held, and what the compressor keeps. It is fed by hand, and only where nothing compressed is left:
 * a pipe into Node's compressor takes sixteen thousand parts ahead, which is what its queue counts.
 */
export function createDeflated(source: ByteSource, size: number): EncodedContent {
  const compressor = new CompressionStream("deflate-raw");
  const writer = compressor.writable.getWriter();
  const reader = compressor.readable.getReader();
  /** What has come out of the compressor. */
  const ready: Uint8Array[] = [];
  const collecting = collect();
  // Whoever waits for it is told.
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
    const [first = NOTHING] = ready;
    const part = first.subarray(0, buffer.byteLength);
    buffer.set(part);
    if (part.byteLength < first.byteLength) ready[0] = first.subarray(part.byteLength);
    else ready.shift();
    storedSize += part.byteLength;
    return part.byteLength;
  }

  async function feed(): Promise<void> {
    const part = new Uint8Array(PART_BYTES);
    const count = await source.readInto(part);
    left -= count;
    if (isClosed || left < 0 || (count === 0 && left > 0)) throw createChangedError();
    if (count > 0) {
      const bytes = part.subarray(0, count);
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
