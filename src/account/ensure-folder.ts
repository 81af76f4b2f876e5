import { type FolderOwner, hasCode, type StorageAdapter } from "../contracts/storage-adapter.ts";
import { toStoragePath } from "./path.ts";

/**
 * Creates a folder and its parents if they are missing. Only the folder itself gets `owner`; new parents belong to the
 * process. The folder is tried before its parents, so that an owner that the storage refuses leaves no new parents.
 */
export async function ensureFolder(
  storage: StorageAdapter,
  segments: readonly string[],
  owner: FolderOwner = {},
): Promise<void> {
  if (await isFolder(storage, segments)) return;
  try {
    await createFolder(storage, segments, owner);
  } catch (error) {
    if (!hasCode(error, "parent-missing")) throw error;
    await ensureFolder(storage, segments.slice(0, -1));
    await createFolder(storage, segments, owner);
  }
}

/** Creates a folder. Succeeds also if a concurrent login of the account has just created it. */
async function createFolder(storage: StorageAdapter, segments: readonly string[], owner: FolderOwner): Promise<void> {
  try {
    await storage.createFolder(toStoragePath(segments), { owner });
  } catch (error) {
    if (!hasCode(error, "already-exists") || !(await isFolder(storage, segments))) throw error;
  }
}

/** Whether a path is a folder. The root of a storage always is. */
export async function isFolder(storage: StorageAdapter, segments: readonly string[]): Promise<boolean> {
  return segments.length === 0 || (await storage.stat(toStoragePath(segments)))?.kind === "folder";
}
