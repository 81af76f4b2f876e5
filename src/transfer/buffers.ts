/*
 * Buffers that transfers go through, used again and again: bytes on their way cost no memory that has to be collected.
 */

/** What a transfer begins with, and what a slow one stays at. */
const SMALLEST_BYTES = 65_536;
/** What is no longer than this goes through one buffer. */
const WHOLE_BYTES = 131_072;
/** Larger ones do not save processor time any more. */
const LARGEST_BYTES = 524_288;
/** How many bytes wait for the next transfer at most. */
const KEPT_BYTES = 4_194_304;
/** A buffer that passes within this time may be twice as large, */
const QUICK_MS = 20;
/** and one that takes longer than this is too large. */
const SLOW_MS = 200;

const kept = new Map<number, Uint8Array[]>();
let keptBytes = 0;

/** A buffer of just this size, with anything in it. */
export function takeBuffer(size: number): Uint8Array {
  const buffer = kept.get(size)?.pop();
  if (buffer === undefined) return new Uint8Array(size);
  keptBytes -= size;
  return buffer;
}

/** Gives a buffer back that nothing reads or writes any more. */
export function giveBack(buffer: Uint8Array): void {
  const { byteLength } = buffer;
  if (keptBytes + byteLength > KEPT_BYTES) return;
  const same = kept.get(byteLength);
  if (same === undefined) kept.set(byteLength, [buffer]);
  else same.push(buffer);
  keptBytes += byteLength;
}

/** How large the buffers of one transfer are: as much as it moves in a moment, so that a thousand slow ones hold little. */
export interface BufferPace {
  /** The size of the next buffer. */
  size(): number;
  /** Notes how long a buffer of that size took to pass. */
  passed(milliseconds: number): void;
}

/** The pace of a transfer that begins; `length` are its bytes, if they are known. */
export function createBufferPace(length: number = Number.POSITIVE_INFINITY): BufferPace {
  let size = length > SMALLEST_BYTES && length <= WHOLE_BYTES ? WHOLE_BYTES : SMALLEST_BYTES;

  function passed(milliseconds: number): void {
    if (milliseconds < QUICK_MS) size = Math.min(size * 2, LARGEST_BYTES);
    else if (milliseconds > SLOW_MS) size = Math.max(size / 2, SMALLEST_BYTES);
  }

  return { size: () => size, passed };
}
