import type { RetentionRule } from "../contracts/kept/retention.ts";
import { hasCode, type StorageAdapter, type StorageEntry } from "../contracts/storage-adapter.ts";

/** A file that a rule no longer keeps. */
export interface ExpiredFile {
  readonly path: string;
  readonly entry: StorageEntry;
}

/** How {@link findExpiredFiles} finds files. */
export interface ExpiryOptions {
  /** POSIX milliseconds. */
  readonly now: number;
  /** Ends the search before the next member of a folder. It then throws the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Gets the error of a path that the storage does not let be read or removed, or that should be a folder and is none.
   */
  onDenied(error: unknown, path: string): void;
}

/**
 * Finds the files in the folders of rules whose last change is too long ago, at any depth. Links are not followed, also
 * if the storage follows them. A folder that does not exist has none; nor has one that cannot be listed, for which
 * `onDenied` is called.
 */
export async function* findExpiredFiles(
  storage: StorageAdapter,
  rules: readonly RetentionRule[],
  { now, signal, onDenied }: ExpiryOptions,
): AsyncGenerator<ExpiredFile> {
  async function* walk(folder: string, before: number): AsyncGenerator<ExpiredFile> {
    try {
      for await (const entry of storage.list(folder)) {
        signal?.throwIfAborted();
        if (entry.isFollowed) continue;
        const path = `${folder === "/" ? "" : folder}/${entry.name}`;
        if (entry.kind === "folder") yield* walk(path, before);
        else if (entry.kind === "file" && entry.modified.getTime() < before) yield { path, entry };
      }
    } catch (error) {
      passOver(error, folder, onDenied);
    }
  }

  for (const { path, seconds } of rules) yield* walk(path, now - 1000 * seconds);
}

/** How {@link removeExpiredFiles} removes files. */
export interface RemovalOptions extends ExpiryOptions {
  /** Calls `remove`, unless a lock forbids it. Returns whether it did. */
  removeUnlocked(path: string, remove: () => Promise<void>): Promise<boolean>;
}

/**
 * Removes these files, to the trash if the storage has one. A file that changes meanwhile stays, if the storage has
 * strong entity-tags. So does one that a client has locked, and one that the storage does not let be removed. Folders
 * stay. Returns the number of files. Rejects if the storage or the store of locks fails.
 */
export async function removeExpiredFiles(
  storage: StorageAdapter,
  rules: readonly RetentionRule[],
  { removeUnlocked, ...options }: RemovalOptions,
): Promise<number> {
  let count = 0;
  for await (const { path, entry } of findExpiredFiles(storage, rules, options)) {
    const conditions = { kind: "file", ...(entry.etag !== undefined && { ifMatch: [entry.etag] }) } as const;
    try {
      if (await removeUnlocked(path, () => storage.remove(path, conditions))) count += 1;
    } catch (error) {
      passOver(error, path, options.onDenied);
    }
  }
  return count;
}

/** Reports a failure of one path; a client may have changed or removed it meanwhile. Throws any other failure. */
function passOver(error: unknown, path: string, onDenied: ExpiryOptions["onDenied"]): void {
  if (hasCode(error, "denied", "not-a-folder")) onDenied(error, path);
  else if (!hasCode(error, "not-found", "not-a-file", "precondition-failed")) throw error;
}
