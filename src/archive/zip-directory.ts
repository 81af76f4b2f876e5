import { type Member, setCentralRecord, toCentralLength, toEnd } from "./zip-records.ts";

/** The size of one block of records, in bytes. */
const BLOCK_BYTES = 65_536;

/** The growing central directory of an archive. It keeps only the encoded records. */
export interface Directory {
  /** @param offset the position of the member's local header in the archive. */
  add(member: Member, crc: number, offset: number): void;
  /**
   * Yields the directory, which starts at `offset`, and the archive's end record. Call it only once: each block is
   * released as it is yielded.
   */
  end(offset: number): Generator<Uint8Array>;
}

export function createDirectory(): Directory {
  const full: Uint8Array[] = [];
  let block = new Uint8Array(0);
  let used = 0;
  let count = 0;
  let length = 0;

  function add(member: Member, crc: number, offset: number): void {
    const needed = toCentralLength(member, offset);
    if (used + needed > block.byteLength) {
      if (used > 0) full.push(block.subarray(0, used));
      // Blocks start small, so that many small archives at a time need little memory.
      block = new Uint8Array(Math.max(needed, Math.min(BLOCK_BYTES, 1024 + length)));
      used = 0;
    }
    setCentralRecord(block.subarray(used), member, crc, offset);
    used += needed;
    length += needed;
    count++;
  }

  function* end(offset: number): Generator<Uint8Array> {
    full.push(block.subarray(0, used));
    full.reverse();
    for (let next = full.pop(); next !== undefined; next = full.pop()) yield next;
    yield toEnd(count, offset, length);
  }

  return { add, end };
}
