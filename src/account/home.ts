import {
  type FolderOwner,
  isStorageError,
  type StorageAdapter,
  StorageError,
  type StorageErrorCode,
} from "../contracts/storage-adapter.ts";
import { HttpError } from "../http/http-error.ts";
import type { Account } from "./account.ts";
import { toStoragePath } from "./path.ts";

/**
 * Sees to it that an account's home folder is there with the folders inside it that its settings name, making what is missing where they
 * allow it (CONTRACT 7.2, 7.3).
 * @throws HttpError `denied`, with its cause for the log, when the home cannot be had; `StorageError` `unavailable` or `no-space`.
 */
export async function prepareHome(account: Account, storage: StorageAdapter): Promise<void> {
  const { home, createHome, owner, structure } = account;
  try {
    if (createHome) await ensureFolder(storage, home, owner);
    else if (!(await isFolder(storage, home))) throw new StorageError("not-found", "The home folder is missing.");
    for (const folder of structure) await ensureFolder(storage, [...home, ...folder]);
  } catch (cause) {
    if (!isStorageError(cause) || cause.code === "unavailable" || cause.code === "no-space") throw cause;
    throw new HttpError("denied", "The account cannot be used.", {}, { cause });
  }
}

/**
 * Makes a folder where it is missing, and its parents, which are the process's own. The folder is tried first: an owner that the storage
 * refuses leaves no parents behind.
 */
async function ensureFolder(
  storage: StorageAdapter,
  segments: readonly string[],
  owner: FolderOwner = {},
): Promise<void> {
  if (await isFolder(storage, segments)) return;
  try {
    await makeFolder(storage, segments, owner);
  } catch (error) {
    if (!isCode(error, "parent-missing")) throw error;
    await ensureFolder(storage, segments.slice(0, -1));
    await makeFolder(storage, segments, owner);
  }
}

/** Makes a folder, or finds that another login of the account was faster. */
async function makeFolder(storage: StorageAdapter, segments: readonly string[], owner: FolderOwner): Promise<void> {
  try {
    await storage.createFolder(toStoragePath(segments), { owner });
  } catch (error) {
    if (!isCode(error, "already-exists") || !(await isFolder(storage, segments))) throw error;
  }
}

async function isFolder(storage: StorageAdapter, segments: readonly string[]): Promise<boolean> {
  return segments.length === 0 || (await storage.stat(toStoragePath(segments)))?.kind === "folder";
}

function isCode(error: unknown, code: StorageErrorCode): boolean {
  return isStorageError(error) && error.code === code;
}
