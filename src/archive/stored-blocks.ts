import type { ByteSource } from "../contracts/byte-source.ts";
import { createChangedError, type EncodedContent, requireEnd } from "./content.ts";
import { crc32 } from "./crc32.ts";

/** The size limit of a stored block of DEFLATE: its length has 16 bits (RFC 1951 3.2.4). */
const BLOCK_BYTES = 0xffff;
/**
 * The size of a block header: a byte with the block's type and whether it is the last, its length, and the length's
 * complement.
 */
const HEADER_BYTES = 5;

/** Returns how many bytes a content of `size` bytes takes as stored blocks. `size` must not be 0. */
export function toFramedSize(size: number): number {
  return size + Math.ceil(size / BLOCK_BYTES) * HEADER_BYTES;
}

/**
 * Encodes a content of `size` bytes as DEFLATE without compression: stored blocks of maximum length. `size` must not be
 * 0.
 *
 * The content is read directly into the reader's buffer, as much as fits in one read. Then it is moved apart in the
 * buffer to make room for the block headers, 5 bytes for each 65,535.
 */
export function createStoredBlocks(source: ByteSource, size: number): EncodedContent {
  /** A block header that is written in parts, because the reader's buffer has no room for more than a header. */
  const header = new Uint8Array(HEADER_BYTES);
  let headerAt = HEADER_BYTES;
  let left = size;
  let leftInBlock = 0;
  let crc = 0;

  async function readInto(buffer: Uint8Array): Promise<number> {
    if (leftInBlock === 0 && left > 0 && buffer.byteLength <= HEADER_BYTES) {
      leftInBlock = Math.min(left, BLOCK_BYTES);
      setHeader(header, 0, leftInBlock, leftInBlock === left);
      headerAt = 0;
    }
    if (headerAt < HEADER_BYTES) return copyHeader(buffer);
    if (left === 0) {
      await requireEnd(source);
      return 0;
    }
    const start = leftInBlock === 0 ? HEADER_BYTES : 0;
    const count = await source.readInto(buffer.subarray(start, start + toCapacity(buffer.byteLength)));
    if (count === 0) throw createChangedError();
    crc = crc32(buffer.subarray(start, start + count), crc);
    return insertHeaders(buffer, start, count);
  }

  function copyHeader(buffer: Uint8Array): number {
    const part = header.subarray(headerAt, headerAt + buffer.byteLength);
    buffer.set(part);
    headerAt += part.byteLength;
    return part.byteLength;
  }

  /** Returns how many bytes of content fit into `room` together with the headers between them. */
  function toCapacity(room: number): number {
    const first = Math.min(leftInBlock, room);
    const rest = room - first;
    const complete = Math.floor(rest / (BLOCK_BYTES + HEADER_BYTES));
    const last = Math.max(0, (rest % (BLOCK_BYTES + HEADER_BYTES)) - HEADER_BYTES);
    return Math.min(left, first + complete * BLOCK_BYTES + last);
  }

  /**
   * Moves the blocks of a content, which was read to `start`, apart and writes their headers. The last block is moved
   * first, so that no block overwrites another. Returns the position after the last byte.
   */
  function insertHeaders(buffer: Uint8Array, start: number, count: number): number {
    if (start > 0) {
      leftInBlock = Math.min(left, BLOCK_BYTES);
      setHeader(buffer, 0, leftInBlock, leftInBlock === left);
    }
    const first = Math.min(leftInBlock, count);
    const blocks = Math.ceil((count - first) / BLOCK_BYTES);
    leftInBlock -= first;
    for (let block = blocks; block > 0; block--) {
      const at = first + (block - 1) * BLOCK_BYTES;
      const length = Math.min(BLOCK_BYTES, left - at);
      const present = Math.min(length, count - at);
      const to = start + at + block * HEADER_BYTES;
      buffer.copyWithin(to, start + at, start + at + present);
      setHeader(buffer, to - HEADER_BYTES, length, length === left - at);
      if (block === blocks) leftInBlock = length - present;
    }
    left -= count;
    return start + count + blocks * HEADER_BYTES;
  }

  return { readInto, close: () => source.close(), written: () => ({ crc, storedSize: toFramedSize(size) }) };
}

function setHeader(bytes: Uint8Array, at: number, length: number, isLast: boolean): void {
  bytes[at] = isLast ? 1 : 0;
  bytes[at + 1] = length & 0xff;
  bytes[at + 2] = length >> 8;
  bytes[at + 3] = ~length & 0xff;
  bytes[at + 4] = (~length >> 8) & 0xff;
}
