import type { StorageAdapter } from "../contracts/storage-adapter.ts";
import { isWithinFolder, toCanonicalPath, toPathSegments } from "../contracts/storage-path.ts";

/** Where a path really is: a storage that is no folder of another one, and the path in it. */
export interface Origin {
  readonly storage: StorageAdapter;
  readonly path: string;
}

/** The folder of another storage that a storage shows. */
interface ShownFolder {
  readonly storage: StorageAdapter;
  readonly base: readonly string[];
}

const shownFolders = new WeakMap<StorageAdapter, ShownFolder>();

/** Notes that a storage shows only a folder of another one. */
export function noteOrigin(storage: StorageAdapter, shown: ShownFolder): void {
  shownFolders.set(storage, shown);
}

/** Returns where a path of a storage really is. Two paths are the same file only if they have one origin. */
export function toOrigin(storage: StorageAdapter, path: string): Origin {
  const shown = shownFolders.get(storage);
  if (shown === undefined) return { storage, path };
  return toOrigin(shown.storage, toCanonicalPath([...shown.base, ...toPathSegments(path)]));
}

/** Whether two places are equal, or one is in the other. */
export function areOverlapping(one: Origin, other: Origin): boolean {
  return (
    one.storage === other.storage && (isWithinFolder(one.path, other.path) || isWithinFolder(other.path, one.path))
  );
}
