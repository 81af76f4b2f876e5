import type { ByteSource } from "../contracts/byte-source.ts";
import { StorageError } from "../contracts/storage-adapter.ts";

/** The encoded content of a member. Reading rejects if the content does not have the member's size. */
export interface EncodedContent extends ByteSource {
  /** Returns the CRC-32 of the content and the number of encoded bytes. Valid only after reading to the end. */
  written(): { readonly crc: number; readonly storedSize: number };
}

/** Receives a byte that no one reads: only whether there is one matters. So all archives can share it. */
const spare = new Uint8Array(1);

const changed = new WeakSet<StorageError>();

/**
 * Creates the error for a file that has changed since its size was read. The archive cannot be completed, and must not
 * look complete (CONTRACT 3.4).
 */
export function createChangedError(): StorageError {
  const error = new StorageError("unavailable", "The size of a file changed while it was read.");
  changed.add(error);
  return error;
}

/** Returns whether an error comes from {@link createChangedError}, and not from a storage. */
export function isChangedError(error: unknown): boolean {
  return error instanceof StorageError && changed.has(error);
}

/** Reads the end of a source, which releases the source. Rejects if there is more content. */
export async function requireEnd(source: ByteSource): Promise<void> {
  if ((await source.readInto(spare)) !== 0) throw createChangedError();
}

/** Reads a complete source into a buffer of its size. Rejects if the sizes differ. */
export async function readExactly(source: ByteSource, buffer: Uint8Array): Promise<void> {
  for (let at = 0; at < buffer.byteLength; ) {
    const count = await source.readInto(buffer.subarray(at));
    if (count === 0) throw createChangedError();
    at += count;
  }
  await requireEnd(source);
}
