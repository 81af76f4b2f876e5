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
const FAST_MS = 20;
/** and one that takes longer than this is too large. */
const SLOW_MS = 200;

/** How many bytes of larger buffers are in use at most: who is quick at first and then stands still would keep them from everybody. */
const LARGE_BYTES = 33_554_432;

const kept = new Map<number, Uint8Array[]>();
let keptBytes = 0;
let largeBytes = 0;

/** A buffer of this size, with anything in it; of the smallest where many large ones are in use. To be given back or dropped. */
export function acquireBuffer(wanted: number): Uint8Array {
  const size = wanted > SMALLEST_BYTES && largeBytes + wanted > LARGE_BYTES ? SMALLEST_BYTES : wanted;
  if (size > SMALLEST_BYTES) largeBytes += size;
  const buffer = kept.get(size)?.pop();
  if (buffer === undefined) return new Uint8Array(size);
  keptBytes -= size;
  return buffer;
}

/** Ends the use of a buffer that somebody may still read or write: nobody gets it again. */
export function dropBuffer({ byteLength }: Uint8Array): void {
  if (byteLength > SMALLEST_BYTES) largeBytes -= byteLength;
}

/** Gives a buffer back that nothing reads or writes any more. */
export function giveBack(buffer: Uint8Array): void {
  dropBuffer(buffer);
  const { byteLength } = buffer;
  if (keptBytes + byteLength > KEPT_BYTES) return;
  const same = kept.get(byteLength);
  if (same === undefined) kept.set(byteLength, [buffer]);
  else same.push(buffer);
  keptBytes += byteLength;
}

/** How large the buffers of one transfer are: as much as it moves in a moment, so that a thousand slow ones hold little. */
export interface BufferSizer {
  /** The size of the next buffer. */
  size(): number;
  /** Notes how long a buffer of that size took to pass. */
  passed(milliseconds: number): void;
}

/** The pace of a transfer that begins; `length` are its bytes, if they are known. */
export function createBufferSizer(length: number = Number.POSITIVE_INFINITY): BufferSizer {
  let size = length > SMALLEST_BYTES && length <= WHOLE_BYTES ? WHOLE_BYTES : SMALLEST_BYTES;

  function passed(milliseconds: number): void {
    if (milliseconds < FAST_MS) size = Math.min(size * 2, LARGEST_BYTES);
    else if (milliseconds > SLOW_MS) size = Math.max(size / 2, SMALLEST_BYTES);
  }

  return { size: () => size, passed };
}
