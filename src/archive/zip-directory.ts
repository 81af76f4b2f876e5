import { type Member, setCentralRecord, toCentralLength, toEnd } from "./zip-records.ts";

/** How many bytes of records stand in one piece. */
const BLOCK_BYTES = 65_536;

/** The central directory of an archive as it grows: its very bytes, nothing beside them. */
export interface Directory {
  /** @param offset where the member's local header stands. */
  add(member: Member, crc: number, offset: number): void;
  /** The directory that begins at `offset`, and the archive's end. To be called once: each piece is let go as it is taken. */
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
      // A small archive takes little, also when many are made at once.
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
    for (let piece = full.pop(); piece !== undefined; piece = full.pop()) yield piece;
    yield toEnd(count, offset, length);
  }

  return { add, end };
}
