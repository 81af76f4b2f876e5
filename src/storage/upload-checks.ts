import { StorageError } from "../contracts/storage-adapter.ts";
import type { AppendOptions, UploadKey } from "../contracts/storage-uploads.ts";

/** Name of the folder below the root of a storage with the uploads that are not complete. No path leads there. */
export const UPLOADS_FOLDER = ".fileferry-uploads.tmp";
const ID = /^[0-9a-f]{32}$/;

/** @throws TypeError if the id of a key is not 32 lower-case hexadecimal digits. */
export function checkUploadKey({ id }: UploadKey): void {
  if (!ID.test(id)) throw new TypeError("The id of an upload must have 32 lower-case hexadecimal digits.");
}

/**
 * Checks the other name under which an upload is completed.
 * @throws StorageError `denied` if it is not in the folder of the upload.
 */
export function checkUploadName(path: string, target: string): void {
  const folderOf = (one: string): string => one.slice(0, one.lastIndexOf("/"));
  if (folderOf(path) !== folderOf(target)) throw new StorageError("denied", "An upload stays in its folder.");
}

/**
 * The content of an append up to its limit.
 * @throws StorageError `too-large` after the bytes within the limit.
 */
export async function* limitAppend(
  content: AsyncIterable<Uint8Array>,
  { limit = Number.POSITIVE_INFINITY }: AppendOptions,
): AsyncGenerator<Uint8Array> {
  let left = limit;
  for await (const chunk of content) {
    const isTooLarge = chunk.byteLength > left;
    if (!isTooLarge || left > 0) yield isTooLarge ? chunk.subarray(0, left) : chunk;
    left -= chunk.byteLength;
    if (isTooLarge) throw new StorageError("too-large");
  }
}
