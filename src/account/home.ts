import { hasCode, isStorageError, type StorageAdapter, StorageError } from "../contracts/storage-adapter.ts";
import { createError } from "../http/errors.ts";
import type { Account } from "./account.ts";
import { ensureFolder, isFolder } from "./ensure-folder.ts";

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
    if (!isStorageError(cause) || hasCode(cause, "unavailable", "no-space")) throw cause;
    throw createError("account-unusable", { cause });
  }
}
