import type { ByteSource } from "../contracts/byte-source.ts";
import { createChangedError, type EncodedContent, requireEnd } from "./content.ts";
import { crc32 } from "./crc32.ts";

/** The most bytes of a stored block of DEFLATE: its length has 16 bits (RFC 1951 3.2.4). */
const BLOCK_BYTES = 0xffff;
/** A byte with the block's kind and whether it is the last, its length, and the length's complement. */
const HEAD_BYTES = 5;

/** The bytes that a content of `size` bytes, not 0, takes as stored blocks. */
export function toFramedSize(size: number): number {
  return size + Math.ceil(size / BLOCK_BYTES) * HEAD_BYTES;
}

/**
 * A content of `size` bytes, not 0, as DEFLATE without compression: stored blocks, each as long as can be. The content is read straight
 * into the reader's buffer, in one go as far as it fits, and moved apart there to make room for the heads: 5 bytes for each 65,535.
 */
export function createStoredBlocks(source: ByteSource, size: number): EncodedContent {
  /** A head that did not fit before the end of a buffer. */
  const head = new Uint8Array(HEAD_BYTES);
  let headAt = HEAD_BYTES;
  let left = size;
  let leftInBlock = 0;
  let crc = 0;

  async function readInto(buffer: Uint8Array): Promise<number> {
    if (leftInBlock === 0 && left > 0 && buffer.byteLength <= HEAD_BYTES) {
      leftInBlock = Math.min(left, BLOCK_BYTES);
      setHead(head, 0, leftInBlock, leftInBlock === left);
      headAt = 0;
    }
    if (headAt < HEAD_BYTES) return copyHead(buffer);
    if (left === 0) {
      await requireEnd(source);
      return 0;
    }
    const start = leftInBlock === 0 ? HEAD_BYTES : 0;
    const count = await source.readInto(buffer.subarray(start, start + toCapacity(buffer.byteLength)));
    if (count === 0) throw createChangedError();
    crc = crc32(buffer.subarray(start, start + count), crc);
    return spread(buffer, start, count);
  }

  function copyHead(buffer: Uint8Array): number {
    const part = head.subarray(headAt, headAt + buffer.byteLength);
    buffer.set(part);
    headAt += part.byteLength;
    return part.byteLength;
  }

  /** How much of the content fits into so much room, the heads between it included. */
  function toCapacity(room: number): number {
    const first = Math.min(leftInBlock, room);
    const rest = room - first;
    const whole = Math.floor(rest / (BLOCK_BYTES + HEAD_BYTES));
    const last = Math.max(0, (rest % (BLOCK_BYTES + HEAD_BYTES)) - HEAD_BYTES);
    return Math.min(left, first + whole * BLOCK_BYTES + last);
  }

  /** Moves the blocks of a content that has been read to `start` apart, the last one first. Returns where it ends then. */
  function spread(buffer: Uint8Array, start: number, count: number): number {
    if (start > 0) {
      leftInBlock = Math.min(left, BLOCK_BYTES);
      setHead(buffer, 0, leftInBlock, leftInBlock === left);
    }
    const first = Math.min(leftInBlock, count);
    const blocks = Math.ceil((count - first) / BLOCK_BYTES);
    leftInBlock -= first;
    for (let block = blocks; block > 0; block--) {
      const at = first + (block - 1) * BLOCK_BYTES;
      const length = Math.min(BLOCK_BYTES, left - at);
      const present = Math.min(length, count - at);
      const to = start + at + block * HEAD_BYTES;
      buffer.copyWithin(to, start + at, start + at + present);
      setHead(buffer, to - HEAD_BYTES, length, length === left - at);
      if (block === blocks) leftInBlock = length - present;
    }
    left -= count;
    return start + count + blocks * HEAD_BYTES;
  }

  return { readInto, close: () => source.close(), written: () => ({ crc, storedSize: toFramedSize(size) }) };
}

function setHead(bytes: Uint8Array, at: number, length: number, isLast: boolean): void {
  bytes[at] = isLast ? 1 : 0;
  bytes[at + 1] = length & 0xff;
  bytes[at + 2] = length >> 8;
  bytes[at + 3] = ~length & 0xff;
  bytes[at + 4] = (~length >> 8) & 0xff;
}
