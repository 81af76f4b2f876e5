import {
  type FolderOwner,
  isStorageError,
  type StorageAdapter,
  StorageError,
  type StorageErrorCode,
} from "../contracts/storage-adapter.ts";
import { createError } from "../http/errors.ts";
import type { Account } from "./account.ts";
import { toStoragePath } from "./path.ts";

/**
 * Ensures that an account's home folder exists, and in it the folders that the settings name. Creates missing folders
 * if the settings allow it (CONTRACT 7.2, 7.3).
 * @throws HttpError `denied`, with the cause for the log, when there is no usable home folder; `StorageError`
 * `unavailable` or `no-space`.
 */
export async function prepareHome(account: Account, storage: StorageAdapter): Promise<void> {
  const { home, createHome, owner, structure } = account;
  try {
    if (createHome) await ensureFolder(storage, home, owner);
    else if (!(await isFolder(storage, home))) throw new StorageError("not-found", "The home folder is missing.");
    for (const folder of structure) await ensureFolder(storage, [...home, ...folder]);
  } catch (cause) {
    if (!isStorageError(cause) || cause.code === "unavailable" || cause.code === "no-space") throw cause;
    throw createError("account-unusable", { cause });
  }
}

/**
 * Creates a folder and its parents if they are missing. Only the folder itself gets `owner`; new parents belong to the
 * process. The folder is tried before its parents, so that an owner that the storage refuses leaves no new parents.
 */
async function ensureFolder(
  storage: StorageAdapter,
  segments: readonly string[],
  owner: FolderOwner = {},
): Promise<void> {
  if (await isFolder(storage, segments)) return;
  try {
    await createFolder(storage, segments, owner);
  } catch (error) {
    if (!isCode(error, "parent-missing")) throw error;
    await ensureFolder(storage, segments.slice(0, -1));
    await createFolder(storage, segments, owner);
  }
}

/** Creates a folder. Succeeds also if a concurrent login of the account has just created it. */
async function createFolder(storage: StorageAdapter, segments: readonly string[], owner: FolderOwner): Promise<void> {
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
