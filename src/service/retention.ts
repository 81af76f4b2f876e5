import type { RetentionRule } from "../contracts/kept/retention.ts";
import {
  hasCode,
  isStorageError,
  type StorageAdapter,
  type StorageEntry,
  type StorageErrorCode,
} from "../contracts/storage-adapter.ts";

/** A file that a rule no longer keeps. */
export interface ExpiredFile {
  readonly path: string;
  readonly entry: StorageEntry;
}

/**
 * Finds the files in the folders of rules whose last change is too long ago, at any depth. Links are not followed, also
 * if the storage follows them. A folder that does not exist has none.
 * @param now POSIX milliseconds.
 */
export async function* findExpiredFiles(
  storage: StorageAdapter,
  rules: readonly RetentionRule[],
  now: number,
): AsyncGenerator<ExpiredFile> {
  for (const { path, seconds } of rules) yield* walk(storage, path, now - 1000 * seconds);
}

/** How {@link removeExpiredFiles} removes files. */
export interface RemovalOptions {
  /** POSIX milliseconds. */
  readonly now: number;
  /** Calls `remove`, unless a lock forbids it. Returns whether it did. */
  removeUnlocked(path: string, remove: () => Promise<void>): Promise<boolean>;
  /** Gets the error of a file that the storage does not let be removed. */
  onDenied(error: unknown): void;
}

/**
 * Removes these files, to the trash if the storage has one. A file that changes meanwhile stays, if the storage has
 * strong entity-tags. So does one that a client has locked, and one that the storage does not let be removed, for which
 * `onDenied` is called. Folders stay. Returns the number of files. Rejects if the storage or the store of locks fails.
 */
export async function removeExpiredFiles(
  storage: StorageAdapter,
  rules: readonly RetentionRule[],
  { now, removeUnlocked, onDenied }: RemovalOptions,
): Promise<number> {
  let count = 0;
  for await (const { path, entry } of findExpiredFiles(storage, rules, now)) {
    const conditions = { kind: "file", ...(entry.etag !== undefined && { ifMatch: [entry.etag] }) } as const;
    try {
      if (await removeUnlocked(path, () => storage.remove(path, conditions))) count += 1;
    } catch (error) {
      if (!isStorageError(error)) throw error;
      if (error.code === "denied") onDenied(error);
      else if (!CHANGED.includes(error.code)) throw error;
    }
  }
  return count;
}

/** A client has changed or removed the file meanwhile. */
const CHANGED: readonly StorageErrorCode[] = ["not-found", "not-a-file", "precondition-failed"];

async function* walk(storage: StorageAdapter, folder: string, before: number): AsyncGenerator<ExpiredFile> {
  try {
    for await (const entry of storage.list(folder)) {
      if (entry.isFollowed) continue;
      const path = `${folder === "/" ? "" : folder}/${entry.name}`;
      if (entry.kind === "folder") yield* walk(storage, path, before);
      else if (entry.kind === "file" && entry.modified.getTime() < before) yield { path, entry };
    }
  } catch (error) {
    if (!hasCode(error, "not-found")) throw error;
  }
}
