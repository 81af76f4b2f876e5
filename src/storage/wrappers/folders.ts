import { hasCode, type StorageAdapter, StorageError } from "../../contracts/storage-adapter.ts";
import { parentOf } from "../../contracts/storage-path.ts";
import { listIfFolder } from "./list-folder.ts";

/**
 * Makes a folder and those around it, as far as they are missing. `made`: gets those that were, also if another one
 * cannot be made. @throws StorageError `not-a-folder`
 */
export async function makeFolders(storage: StorageAdapter, path: string, made: string[] = []): Promise<void> {
  if (path === "/") return;
  const make = async (): Promise<void> => {
    await storage.createFolder(path);
    made.push(path);
  };
  try {
    await make();
  } catch (error) {
    if (hasCode(error, "parent-missing")) {
      await makeFolders(storage, parentOf(path), made);
      await make().catch((again: unknown) => requireFolder(storage, path, again));
    } else await requireFolder(storage, path, error);
  }
}

/** Removes folders that {@link makeFolders} has made for nothing. What is in use by now stays. */
export async function removeMade(storage: StorageAdapter, made: readonly string[]): Promise<void> {
  for (const folder of [...made].reverse()) {
    for await (const batch of listIfFolder(storage, folder)) if (batch.length > 0) return;
    await storage.remove(folder, { kind: "folder", permanent: true, ifEmpty: true });
  }
}

async function requireFolder(storage: StorageAdapter, path: string, error: unknown): Promise<void> {
  if (!hasCode(error, "already-exists")) throw error;
  if ((await storage.stat(path))?.kind !== "folder")
    throw new StorageError("not-a-folder", undefined, { cause: error });
}
