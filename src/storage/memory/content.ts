import type { ByteSource } from "../../contracts/byte-source.ts";

/** Content up to this size is copied immediately. Larger content becomes a source. */
const COPIED_BYTES = 65_536;

/** The total size of chunks, in bytes. */
export function byteLength(chunks: readonly Uint8Array[]): number {
  return chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0);
}

/** Returns a copy of the bytes, or a source for large content. */
export function toContent(chunks: readonly Uint8Array[], start: number, end: number): Uint8Array | ByteSource {
  const fill = createFiller(chunks, start, end);
  if (end - start > COPIED_BYTES) return { readInto: async (buffer) => fill(buffer), close: async () => undefined };
  const bytes = new Uint8Array(end - start);
  fill(bytes);
  return bytes;
}

/** Creates a function that copies the next bytes into a buffer. It returns the number of bytes, 0 at the end. */
function createFiller(chunks: readonly Uint8Array[], start: number, end: number): (buffer: Uint8Array) => number {
  let index = 0;
  let before = 0;
  let position = start;

  return (buffer) => {
    let filled = 0;
    for (let chunk = chunks[index]; chunk !== undefined && position < end; chunk = chunks[index]) {
      const most = Math.min(end - position, buffer.byteLength - filled);
      const part = chunk.subarray(position - before, position - before + most);
      buffer.set(part, filled);
      filled += part.byteLength;
      position += part.byteLength;
      if (filled === buffer.byteLength) break;
      before += chunk.byteLength;
      index += 1;
    }
    return filled;
  };
}
