import type { ContentReader } from "./content-reader.ts";
import type { UploadMemory } from "./part-memory.ts";

/** Initial size of a buffer. */
const FIRST_BYTES = 65_536;
/** Each part may have this many bytes without taking memory, so that small files never wait. */
const UNCOUNTED_BYTES = 1_048_576;

/** Some bytes of a file, in their own buffer. */
export interface ObjectPart {
  /** Number of the part, from 1. */
  readonly number: number;
  readonly byteLength: number;
  readonly isLast: boolean;
  /** Returns the bytes. Not allowed after `release`. */
  bytes(): Uint8Array<ArrayBuffer>;
  /** Frees the buffer, also if a suspended generator still refers to the part. */
  release(): void;
}

/** Sizes of the parts of a file. */
export interface PartCut {
  /** Returns the length of a part, numbered from 1. Throws if this part is not allowed. */
  bytesOf(number: number): number;
  /** How many parts are made at most. The rest of the content is left. */
  readonly maxParts: number;
  /** Size of the file, if known. */
  readonly size: number | undefined;
  /** A part without memory has what has arrived. The content then ends, because one signal ends both. */
  readonly keepsArrived?: true;
}

/**
 * Copies content into parts. Each part says whether it is the last, so a full part is yielded only when the next byte
 * arrives. An empty file is one empty part.
 */
export async function* toParts(
  content: ContentReader,
  { bytesOf, maxParts, size = Number.POSITIVE_INFINITY, keepsArrived }: PartCut,
  memory: UploadMemory,
): AsyncGenerator<ObjectPart> {
  for (let number = 1; number <= maxParts; number += 1) {
    const hasBytes = await content.hasMore();
    const length = hasBytes ? Math.min(bytesOf(number), size - content.position()) : 0;
    const part = await readPart(content, { number, length, size, keepsArrived }, memory);
    yield part;
    if (part.isLast) return;
  }
}

/** A part that is to be read. */
interface NextPart {
  readonly number: number;
  /** Its bytes, unless the content ends before. */
  readonly length: number;
  readonly size: number;
  readonly keepsArrived: PartCut["keepsArrived"];
}

async function readPart(
  content: ContentReader,
  { number, length, size, keepsArrived }: NextPart,
  memory: UploadMemory,
): Promise<ObjectPart> {
  let buffer: Uint8Array<ArrayBuffer> = new Uint8Array(0);
  let filled = 0;
  let isCounted = false;

  async function fill(most: number): Promise<void> {
    while (filled < most && (await content.hasMore())) fillOnce(most);
  }

  /** Takes what is at hand. */
  function fillOnce(most: number): void {
    const bytes = content.take(most - filled);
    const needed = filled + bytes.byteLength;
    if (needed > buffer.byteLength) buffer = grow(buffer, filled, needed, most);
    buffer.set(bytes, filled);
    filled = needed;
  }

  async function fillCounted(): Promise<void> {
    try {
      const used = await memory.take(length);
      isCounted = true;
      used?.set(buffer.subarray(0, filled));
      buffer = used ?? buffer;
    } catch (error) {
      if (keepsArrived !== true) throw error;
      return fillOnce(length);
    }
    await fill(length);
  }

  await fill(Math.min(length, UNCOUNTED_BYTES));
  if (filled < length && (await content.hasMore())) await fillCounted();
  // What runs before the end of the content, such as `beforeCommit`, is not time of the client.
  if (content.position() === size) memory.finishFilling();
  const isLast = !(await content.hasMore());
  memory.finishFilling();

  function release(): void {
    if (isCounted) memory.giveBack(buffer.buffer, length);
    buffer = new Uint8Array(0);
  }

  return { number, byteLength: filled, isLast, bytes: () => buffer.subarray(0, filled), release };
}

/**
 * Returns a larger buffer with the same content. It grows at most fourfold, so that a client that announces much and
 * sends little occupies little memory.
 */
function grow(buffer: Uint8Array<ArrayBuffer>, filled: number, needed: number, most: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.min(most, Math.max(needed, FIRST_BYTES, buffer.byteLength * 4)));
  larger.set(buffer.subarray(0, filled));
  return larger;
}

/** Yields a part that was already taken from a sequence, then the rest of the sequence. */
export async function* joined(first: ObjectPart, others: AsyncIterable<ObjectPart>): AsyncGenerator<ObjectPart> {
  yield first;
  yield* others;
}
