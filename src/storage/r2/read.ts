import { type ByteSource, toByteSource } from "../../contracts/byte-source.ts";
import { type ByteRange, StorageError, type StoredFile } from "../../contracts/storage-adapter.ts";
import { toStoredFile } from "../../contracts/stored-file.ts";
import type { ObjectLocation } from "../object-store/keys.ts";
import type { R2Bucket } from "./binding.ts";
import { toR2FileEntry } from "./list.ts";
import { mapR2Errors } from "./write.ts";

/**
 * Opens the file at a location, or returns `undefined` if there is none. Entry and bytes come with one request.
 * @throws StorageError `unavailable`.
 */
export async function readObject(
  bucket: R2Bucket,
  location: ObjectLocation,
  range: ByteRange | undefined,
): Promise<StoredFile | undefined> {
  const { name, key, parent } = location;
  if (parent === undefined) return undefined;
  if (range?.length === 0) return readNothing(bucket, location);
  try {
    const found = await bucket.get(key, range && { range: { offset: range.offset, length: range.length } });
    return found === null ? undefined : toStoredFile(toR2FileEntry(name, found), toSource(found.body));
  } catch (cause) {
    // R2 reports an error for a range after the end of the file.
    const empty = await readNothing(bucket, location);
    if (empty !== undefined && (range === undefined || range.offset < empty.entry.size)) {
      throw new StorageError("unavailable", "R2 failed.", { cause });
    }
    return empty;
  }
}

/** Returns a file without content. */
async function readNothing(bucket: R2Bucket, { name, key }: ObjectLocation): Promise<StoredFile | undefined> {
  const found = await mapR2Errors(() => bucket.head(key));
  return found === null ? undefined : toStoredFile(toR2FileEntry(name, found), new Uint8Array());
}

/**
 * Wraps a stream of workerd. workerd rejects a pending read when the stream is cancelled; a source has to report its
 * end instead.
 */
export function toSource(stream: ReadableStream<Uint8Array>): ByteSource {
  const source = toByteSource(stream);
  let isClosed = false;

  async function readInto(buffer: Uint8Array): Promise<number> {
    try {
      return await source.readInto(buffer);
    } catch (error) {
      if (isClosed) return 0;
      throw error;
    }
  }

  function close(): Promise<void> {
    isClosed = true;
    return source.close();
  }

  return { readInto, close };
}
