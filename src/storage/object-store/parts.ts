/** What a buffer begins with. */
const FIRST_BYTES = 65_536;

/** Some bytes of a file, in a buffer of its own. */
export interface ObjectPart {
  /** From 1. */
  readonly number: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly isLast: boolean;
}

/** How a file is cut. */
export interface PartCut {
  /** How long a part is, from 1; throws where there may be none. */
  bytesOf(number: number): number;
  /** Of the file, where it is known. */
  readonly size: number | undefined;
}

/** Buffers of parts that have gone, for the next ones of the same upload. */
export interface PartBuffers {
  /** One of at least so many bytes, if there is one. */
  take(bytes: number): Uint8Array<ArrayBuffer> | undefined;
  giveBack(bytes: Uint8Array<ArrayBuffer>): void;
}

/** Buffers of one upload; what is too small for its grown parts is let go. */
export function createPartBuffers(): PartBuffers {
  const free: ArrayBuffer[] = [];

  function take(bytes: number): Uint8Array<ArrayBuffer> | undefined {
    for (let buffer = free.pop(); buffer !== undefined; buffer = free.pop()) {
      if (buffer.byteLength >= bytes) return new Uint8Array(buffer);
    }
    return undefined;
  }

  return { take, giveBack: ({ buffer }) => void free.push(buffer) };
}

/**
 * Chunks, copied into parts. A part is known to be the last or not when it is given: so a full one waits for the next byte. An empty file is
 * one empty part.
 */
export async function* toParts(
  chunks: AsyncIterable<Uint8Array>,
  { bytesOf, size }: PartCut,
  buffers: PartBuffers,
): AsyncGenerator<ObjectPart> {
  let number = 1;
  let wanted = bytesOf(number);
  let buffer: Uint8Array<ArrayBuffer> = new Uint8Array(0);
  let filled = 0;
  for await (const chunk of chunks) {
    for (let taken = 0; taken < chunk.byteLength; ) {
      if (filled === wanted) {
        yield { number, bytes: buffer.subarray(0, filled), isLast: false };
        number += 1;
        wanted = bytesOf(number);
        buffer = buffers.take(wanted) ?? new Uint8Array(0);
        filled = 0;
      }
      const count = Math.min(chunk.byteLength - taken, wanted - filled);
      if (filled + count > buffer.byteLength) buffer = grow(buffer, filled, filled + count, wanted, size);
      buffer.set(chunk.subarray(taken, taken + count), filled);
      taken += count;
      filled += count;
    }
  }
  yield { number, bytes: buffer.subarray(0, filled), isLast: true };
}

/** A buffer with room for so many bytes: no more than four times as many, so that one who announces much and sends little holds little. */
function grow(
  buffer: Uint8Array<ArrayBuffer>,
  filled: number,
  needed: number,
  wanted: number,
  size: number | undefined,
): Uint8Array<ArrayBuffer> {
  const most = size === undefined ? wanted : Math.min(wanted, Math.max(size, needed));
  const larger = new Uint8Array(Math.min(most, Math.max(needed, FIRST_BYTES, buffer.byteLength * 4)));
  larger.set(buffer.subarray(0, filled));
  return larger;
}

/** A part that was looked at, and those behind it. */
export async function* joined(first: ObjectPart, others: AsyncIterable<ObjectPart>): AsyncGenerator<ObjectPart> {
  yield first;
  yield* others;
}
