/*
 * Reused buffers for transfers, so that bytes in transit create no garbage.
 */

/** The first buffer of a transfer, and the buffers of a slow upload. */
const FIRST_BYTES = 65_536;
/** Larger buffers save no more processor time. */
const LARGEST_BYTES = 524_288;
/**
 * How many bytes of unused buffers are kept at most: those of 64 transfers of 256 KiB, which may be ready at the same
 * time. With fewer, each round makes garbage outside of the heap, and the process takes more memory, not less.
 */
const KEPT_BYTES = 16_777_216;
/** How many bytes of unused buffers stay, however long nothing needs them. */
const RESTING_BYTES = 4_194_304;
/** Buffers beyond these bytes are released when nothing has needed them for this long. */
const REST_MS = 1000;
/** If a buffer passes within this time, the next one is twice as large. */
const FAST_MS = 20;
/** If a buffer takes longer than this, the next one is half as large. */
const SLOW_MS = 200;

/** How many bytes of larger buffers are in use at most: clients that are fast at first and then stall hold them. */
const LARGE_BYTES = 33_554_432;

const kept = new Map<number, Uint8Array[]>();
let keptBytes = 0;
/** The least that was kept since the release was planned: nothing needed those bytes. */
let leastKeptBytes = 0;
let isPlanned = false;
let largeBytes = 0;

/**
 * Returns a buffer of the wanted size with any content, or of the first size if many large ones are in use. The
 * caller gives it back or drops it.
 */
export function acquireBuffer(wanted: number): Uint8Array {
  const size = wanted > FIRST_BYTES && largeBytes + wanted > LARGE_BYTES ? FIRST_BYTES : wanted;
  if (size > FIRST_BYTES) largeBytes += size;
  const buffer = kept.get(size)?.pop();
  if (buffer === undefined) return new Uint8Array(size);
  keptBytes -= size;
  leastKeptBytes = Math.min(leastKeptBytes, keptBytes);
  return buffer;
}

/** Ends the use of a buffer that may still be read or written, so that it is not used again. */
export function dropBuffer({ byteLength }: Uint8Array): void {
  if (byteLength > FIRST_BYTES) largeBytes -= byteLength;
}

/** Gives a buffer back that nothing reads or writes anymore. */
export function giveBack(buffer: Uint8Array): void {
  dropBuffer(buffer);
  const { byteLength } = buffer;
  if (keptBytes + byteLength > KEPT_BYTES) return;
  const same = kept.get(byteLength);
  if (same === undefined) kept.set(byteLength, [buffer]);
  else same.push(buffer);
  keptBytes += byteLength;
  if (keptBytes > RESTING_BYTES && !isPlanned) planRelease();
}

function planRelease(): void {
  isPlanned = true;
  leastKeptBytes = keptBytes;
  const timer: unknown = setTimeout(releaseUnneeded, REST_MS);
  // A process may end before.
  (timer as { unref?: () => void }).unref?.();
}

/** Releases buffers that were not needed since the release was planned, the largest first. */
function releaseUnneeded(): void {
  const most = Math.max(RESTING_BYTES, keptBytes - leastKeptBytes);
  for (const size of [...kept.keys()].sort((one, other) => other - one)) {
    const buffers = kept.get(size) ?? [];
    while (keptBytes > most && buffers.pop() !== undefined) keptBytes -= size;
  }
  isPlanned = false;
  if (keptBytes > RESTING_BYTES) planRelease();
}

/** Chooses the size of a transfer's buffers by its speed, so that a thousand slow transfers hold little memory. */
export interface BufferSizer {
  /** The size of the next buffer. */
  size(): number;
  /**
   * Records how long a buffer of that size took to pass, and how many bytes it had. A buffer that was not half full
   * was too large: its source has no more at a time.
   */
  passed(milliseconds: number, byteLength?: number): void;
}

/** The sizes that buffers may reach. */
interface BufferSizes {
  /** Default: 64 KiB. */
  readonly least?: number;
  /** Default: 512 KiB. */
  readonly most?: number;
}

/** Creates the sizer for a transfer of `length` bytes, if the length is known. */
export function createBufferSizer(
  length: number = Number.POSITIVE_INFINITY,
  { least = FIRST_BYTES, most = LARGEST_BYTES }: BufferSizes = {},
): BufferSizer {
  let size = Math.min(most, toFirstSize(length));

  function passed(milliseconds: number, byteLength: number = size): void {
    if (milliseconds > SLOW_MS || byteLength < size / 2) size = Math.max(size / 2, least);
    else if (milliseconds < FAST_MS) size = Math.min(size * 2, most);
  }

  return { size: () => size, passed };
}

/** A body of up to the largest size uses one buffer. For a longer one, the speed of its client is not known yet. */
function toFirstSize(length: number): number {
  let size = FIRST_BYTES;
  while (length <= LARGEST_BYTES && size < length) size *= 2;
  return size;
}
