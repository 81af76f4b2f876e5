/** The most bytes of a stored block of DEFLATE: its length has 16 bits (RFC 1951 3.2.4). */
const BLOCK_BYTES = 0xffff;
/** A byte with the block's kind and whether it is the last, its length, and the length's complement. */
const HEAD_BYTES = 5;

/** Puts the heads of blocks between the bytes of a content that comes in chunks. */
export type BlockFramer = (chunk: Uint8Array) => Uint8Array;

/** The bytes that a content of `size` bytes, not 0, takes as stored blocks. */
export function toFramedSize(size: number): number {
  return size + Math.ceil(size / BLOCK_BYTES) * HEAD_BYTES;
}

/**
 * Writes a content of `size` bytes, not 0, as DEFLATE without compression: stored blocks, each as long as can be. The chunks given to the
 * framer must come to `size` in all.
 */
export function createBlockFramer(size: number): BlockFramer {
  let left = size;
  let leftInBlock = 0;

  return function frame(chunk) {
    const heads = Math.ceil(Math.max(0, chunk.byteLength - leftInBlock) / BLOCK_BYTES);
    const framed = new Uint8Array(chunk.byteLength + heads * HEAD_BYTES);
    let to = 0;
    for (let from = 0; from < chunk.byteLength; ) {
      if (leftInBlock === 0) {
        leftInBlock = Math.min(left, BLOCK_BYTES);
        framed.set(toHead(leftInBlock, leftInBlock === left), to);
        to += HEAD_BYTES;
      }
      const length = Math.min(leftInBlock, chunk.byteLength - from);
      framed.set(chunk.subarray(from, from + length), to);
      from += length;
      to += length;
      left -= length;
      leftInBlock -= length;
    }
    return framed;
  };
}

function toHead(length: number, isLast: boolean): readonly number[] {
  return [isLast ? 1 : 0, length & 0xff, length >> 8, ~length & 0xff, (~length >> 8) & 0xff];
}
