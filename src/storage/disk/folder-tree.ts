import { realpathSync } from "node:fs";
import { join } from "node:path";
import { StorageError } from "../../contracts/storage-adapter.ts";
import { mapErrorCode } from "./errors.ts";
import { hasDescriptorPaths, openByDescriptor, openInOneCall, openInOneCallSync } from "./folder-by-descriptor.ts";
import { openByPath } from "./folder-by-path.ts";
import { findNameCheck, type NameCheck } from "./names.ts";
import type { OpenFolder } from "./open-folder.ts";

/** The folders below the root of a disk storage. */
export interface FolderTree {
  /** Absolute path of the root. Symlinks on the way to it belong to the operator and are followed. */
  readonly root: string;
  /** Whether a member of any folder can have this name. */
  readonly isValidName: NameCheck;
  /**
   * Opens a folder without following a symlink below the root. The caller closes the folder.
   * @throws StorageError `not-found`; `not-a-folder` if the member or one above it is a file or a symlink;
   *   `unavailable` if the root itself is missing.
   */
  open(segments: readonly string[]): Promise<OpenFolder>;
  /** As `open`, for folders that the storage keeps for itself. Does not check the names. */
  openOwn(segments: readonly string[]): Promise<OpenFolder>;
  /**
   * As `open`, but synchronous, for fast disks (`latency-guard.ts`). Returns `undefined` if that fails, and on systems
   * where paths must be confirmed.
   */
  openSync(segments: readonly string[]): OpenFolder | undefined;
}

/**
 * Creates the tree of a root that exists.
 * @throws Error of the system if the root cannot be resolved.
 */
export function createFolderTree(root: string): FolderTree {
  const realRoot = realpathSync(root);
  const byDescriptor = hasDescriptorPaths();
  const isValidName = findNameCheck(realRoot);

  function openRoot(): Promise<OpenFolder> {
    const opened = byDescriptor ? openByDescriptor(`${root}/.`) : openByPath(realRoot);
    return mapErrorCode(mapErrorCode(opened, "not-found", "unavailable"), "not-a-folder", "unavailable");
  }

  async function openOwn(segments: readonly string[]): Promise<OpenFolder> {
    const folder = segments.length > 0 ? await tryInOneCall(segments) : undefined;
    return folder ?? walk(segments);
  }

  async function walk(segments: readonly string[]): Promise<OpenFolder> {
    let folder = await openRoot();
    for (const name of segments) {
      const above = folder;
      folder = await above.enter(name).finally(() => above.close());
    }
    return folder;
  }

  /** Opens the folder in one step instead of one step per segment. If this fails, the walk finds out why. */
  function tryInOneCall(segments: readonly string[]): Promise<OpenFolder | undefined> {
    if (!byDescriptor) return openByPath(join(realRoot, ...segments)).catch(() => undefined);
    return openInOneCall(join(root, ...segments), toRealPath(segments));
  }

  /**
   * Returns the real path to compare with, or `undefined` if no comparison is needed. The operator chose the root's own
   * path, so only segments below it can be hostile symlinks; O_NOFOLLOW covers the last one.
   */
  function toRealPath(segments: readonly string[]): string | undefined {
    return segments.length > 1 ? join(realRoot, ...segments) : undefined;
  }

  function openSync(segments: readonly string[]): OpenFolder | undefined {
    if (!byDescriptor || !segments.every(isValidName)) return undefined;
    return openInOneCallSync(segments.length > 0 ? join(root, ...segments) : `${root}/.`, toRealPath(segments));
  }

  return {
    root,
    isValidName,
    open: async (segments) => {
      if (!segments.every(isValidName)) throw new StorageError("not-found");
      return openOwn(segments);
    },
    openOwn,
    openSync,
  };
}
