import { hasCode, type StorageAdapter, StorageError } from "../../contracts/storage-adapter.ts";
import { parentOf } from "../../contracts/storage-path.ts";

/** Makes a folder and those around it, as far as they are missing. @throws StorageError `not-a-folder` */
export async function makeFolders(storage: StorageAdapter, path: string): Promise<void> {
  if (path === "/") return;
  try {
    await storage.createFolder(path);
  } catch (error) {
    if (hasCode(error, "parent-missing")) {
      await makeFolders(storage, parentOf(path));
      await storage.createFolder(path).catch((again: unknown) => requireFolder(storage, path, again));
    } else await requireFolder(storage, path, error);
  }
}

async function requireFolder(storage: StorageAdapter, path: string, error: unknown): Promise<void> {
  if (!hasCode(error, "already-exists")) throw error;
  if ((await storage.stat(path))?.kind !== "folder")
    throw new StorageError("not-a-folder", undefined, { cause: error });
}
