import type { LockDepth, LockScope } from "../../contracts/lock.ts";
import { isPrefix } from "../../contracts/storage-path.ts";

/** A write lock, as the store keeps it. */
export interface StoredLock {
  readonly token: string;
  /** The file or folder that was locked, as the last name of its path. Empty for the root of the storage. */
  readonly name: string;
  readonly isFolder: boolean;
  readonly scope: LockScope;
  readonly depth: LockDepth;
  /** What the client gave as its owner, as XML. Empty if it gave nothing. */
  readonly owner: string;
  /** The identity of the account that has the lock. */
  readonly account: string;
  /** When the lock ends, in milliseconds. */
  readonly ends: number;
}

/** A lock and where it is. */
export interface RootedLock extends StoredLock {
  /** The locked file or folder, as segments of its path in the storage. */
  readonly root: readonly string[];
}

/** Whether a lock applies to a path: it is there, or on a folder around it with everything in it. */
export function appliesTo({ root, depth }: RootedLock, path: readonly string[]): boolean {
  return root.length === path.length ? isPrefix(root, path) : depth === "infinity" && isPrefix(root, path);
}

/** Whether two locks on one file or folder exclude each other. */
export function excludes(one: StoredLock, other: StoredLock): boolean {
  return one.token !== other.token && (one.scope === "exclusive" || other.scope === "exclusive");
}
