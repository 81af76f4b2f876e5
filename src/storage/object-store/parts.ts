/** Initial size of a buffer. */
const FIRST_BYTES = 65_536;

/** Some bytes of a file, in their own buffer. */
export interface ObjectPart {
  /** Number of the part, from 1. */
  readonly number: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly isLast: boolean;
}

/** Sizes of the parts of a file. */
export interface PartCut {
  /** Returns the length of a part, numbered from 1. Throws if this part is not allowed. */
  bytesOf(number: number): number;
  /** Size of the file, if known. */
  readonly size: number | undefined;
}

/** Buffers of sent parts, reused by later parts of the same upload. */
export interface PartBuffers {
  /** Returns a buffer of at least this size, if one is free. */
  take(bytes: number): Uint8Array<ArrayBuffer> | undefined;
  giveBack(bytes: Uint8Array<ArrayBuffer>): void;
}

/** Creates the buffers of one upload. Buffers that are too small for the next part are dropped. */
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
 * Copies chunks into parts. Each part says whether it is the last, so a full part is yielded only when the next byte
 * arrives. An empty file is one empty part.
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

/**
 * Returns a larger buffer with the same content. It grows at most fourfold, so that a client that announces much and
 * sends little occupies little memory.
 */
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

/** Yields a part that was already taken from a sequence, then the rest of the sequence. */
export async function* joined(first: ObjectPart, others: AsyncIterable<ObjectPart>): AsyncGenerator<ObjectPart> {
  yield first;
  yield* others;
}
