import type { ByteSource } from "../contracts/byte-source.ts";
import { StorageError } from "../contracts/storage-adapter.ts";

/** A member's content as it stands in the archive. It rejects where it is not of the size that the member has. */
export interface EncodedContent extends ByteSource {
  /** What is known once it has been read to its end: the CRC-32 of the content, and how many bytes it took. */
  written(): { readonly crc: number; readonly storedSize: number };
}

/** Only whether something comes is of interest, never what. */
const spare = new Uint8Array(1);

const changed = new WeakSet<StorageError>();

/** A file is not what it was when its size was told: the archive cannot be finished, and must not seem to be (CONTRACT 3.4). */
export function createChangedError(): StorageError {
  const error = new StorageError("unavailable", "A file was not read with the size that it had.");
  changed.add(error);
  return error;
}

/** Whether it is this that has failed, and no storage. */
export function isChangedError(error: unknown): boolean {
  return error instanceof StorageError && changed.has(error);
}

/** Reads a source's end, which releases it. Rejects where it goes on. */
export async function requireEnd(source: ByteSource): Promise<void> {
  if ((await source.readInto(spare)) !== 0) throw createChangedError();
}

/** Fills a buffer with all that a source has. Rejects where that is more or less. */
export async function readWhole(source: ByteSource, buffer: Uint8Array): Promise<void> {
  for (let at = 0; at < buffer.byteLength; ) {
    const count = await source.readInto(buffer.subarray(at));
    if (count === 0) throw createChangedError();
    at += count;
  }
  await requireEnd(source);
}
