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
export function limitAppend(
  content: AsyncIterable<Uint8Array>,
  { limit = Number.POSITIVE_INFINITY }: AppendOptions,
): AsyncIterable<Uint8Array> {
  let left = limit;
  let isTooLarge = false;

  /** An async generator would make three promises for each chunk in place of one. */
  function limited(): AsyncIterator<Uint8Array> {
    const source = content[Symbol.asyncIterator]();

    async function next(): Promise<IteratorResult<Uint8Array>> {
      if (isTooLarge) return refuse();
      const step = await source.next();
      if (step.done === true) return step;
      const { value } = step;
      isTooLarge = value.byteLength > left;
      if (isTooLarge) return left === 0 ? refuse() : { done: false, value: value.subarray(0, left) };
      left -= value.byteLength;
      return step;
    }

    async function refuse(): Promise<never> {
      await source.return?.();
      throw new StorageError("too-large");
    }

    async function end(): Promise<IteratorResult<Uint8Array>> {
      await source.return?.();
      return { done: true, value: undefined };
    }

    return { next, return: end };
  }

  return { [Symbol.asyncIterator]: limited };
}
