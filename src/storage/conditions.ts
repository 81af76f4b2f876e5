import { matchesStrongly, matchesWeakly } from "../contracts/entity-tags.ts";
import {
  hasCode,
  type RemoveOptions,
  type StorageAdapter,
  type StorageEntry,
  StorageError,
  type TransferOptions,
  type WriteOptions,
} from "../contracts/storage-adapter.ts";
import { parentOf, toPathSegments } from "../contracts/storage-path.ts";

/** Whether a file with this entity-tag, or no file, meets the conditions of a write (RFC 9110 13.1.1, 13.1.2). */
export function meetsConditions(etag: string | undefined, { ifMatch, ifNoneMatch }: WriteOptions): boolean {
  if (ifMatch !== undefined && (etag === undefined || !matchesStrongly(etag, ifMatch))) return false;
  return ifNoneMatch === undefined || etag === undefined || !matchesWeakly(etag, ifNoneMatch);
}

/** Whether a write has conditions at all. */
export function hasConditions({ ifMatch, ifNoneMatch }: WriteOptions): boolean {
  return ifMatch !== undefined || ifNoneMatch !== undefined;
}

/** Whether the member that was found is of the kind that the caller of a removal requires. */
export function isOfKind(found: StorageEntry["kind"], { kind }: RemoveOptions): boolean {
  return kind === undefined || (kind === "folder") === (found === "folder");
}

/**
 * Checks the paths of a copy or a move.
 * @throws StorageError `denied` if one is the root, if they are equal, or if one is in the other.
 * @throws TypeError if a path is not canonical.
 */
export function checkSeparatePaths(from: string, to: string): void {
  for (const path of [from, to]) {
    if (toPathSegments(path).length === 0) throw new StorageError("denied", "The root is neither moved nor replaced.");
  }
  if (from === to || from.startsWith(`${to}/`) || to.startsWith(`${from}/`)) {
    throw new StorageError("denied", "Neither path of a copy or a move may be in the other.");
  }
}

/**
 * Returns the entry at the source of a copy.
 * @throws StorageError `not-found`, also for a symlink or another kind; `precondition-failed`.
 */
export function checkSource<T extends Pick<StorageEntry, "kind" | "etag">>(
  entry: T | undefined,
  options: TransferOptions,
): T {
  if (entry === undefined || entry.kind === "link" || !isOfKind(entry.kind, options)) {
    throw new StorageError("not-found");
  }
  if (!meetsConditions(entry.etag, { ...(options.ifMatch && { ifMatch: options.ifMatch }) })) {
    throw new StorageError("precondition-failed");
  }
  return entry;
}

/** Throws an error of the write of a copy, which has no condition but that nothing is at the new path. */
export function throwIfTaken(error: unknown): never {
  if (!hasCode(error, "precondition-failed", "not-a-file")) throw error;
  throw new StorageError("already-exists", "Something else was created there.", { cause: error });
}

/**
 * Checks that the parent of a path is a folder.
 * @throws StorageError `not-a-folder` if it, or something above it, is a file; `parent-missing`.
 */
export async function checkParent(storage: Pick<StorageAdapter, "stat">, path: string): Promise<void> {
  const parent = parentOf(path);
  const found = await storage.stat(parent);
  if (found?.kind === "folder") return;
  // A file above the missing folder is the reason then.
  if (!found && parent !== "/") await checkParent(storage, parent);
  throw new StorageError(found ? "not-a-folder" : "parent-missing");
}
