import type { StorageAdapter } from "../../contracts/storage-adapter.ts";
import type { StorageUploads, UploadDraft, UploadKey, UploadState } from "../../contracts/storage-uploads.ts";
import { textChunks } from "../storage/content.ts";

/** The uploads of the storage under test. */
export function uploadsOf({ uploads }: StorageAdapter): StorageUploads {
  if (uploads === undefined) throw new Error("The storage has no uploads.");
  return uploads;
}

/** Makes a key of its own. */
export function newKey(owner = "account:alice"): UploadKey {
  return { owner, id: crypto.randomUUID().replaceAll("-", "") };
}

/** Creates an upload. */
export function beginUpload(
  storage: StorageAdapter,
  path: string,
  options: Pick<UploadDraft, "size" | "ifMatch" | "ifNoneMatch" | "isPartial" | "isNamedLater"> = {},
  key: UploadKey = newKey(),
): Promise<UploadState> {
  const expires = new Date(Date.now() + 3_600_000);
  return uploadsOf(storage).create(key, path, { ...options, note: '{"a":1}', expires });
}

/** Adds texts at an offset. */
export function appendText(
  storage: StorageAdapter,
  key: UploadKey,
  offset: number,
  ...texts: readonly string[]
): Promise<UploadState> {
  return uploadsOf(storage).append(key, offset, textChunks(...texts));
}

/** Returns the offset of an upload; undefined if there is none. */
export async function offsetOf(storage: StorageAdapter, key: UploadKey): Promise<number | undefined> {
  return (await uploadsOf(storage).find(key))?.offset;
}
