import { realpathSync } from "node:fs";
import { join } from "node:path";
import { StorageError } from "../../contracts/storage-adapter.ts";
import { mapErrorCode } from "./errors.ts";
import { isKeepable } from "./names.ts";
import {
  hasDescriptorPaths,
  type OpenFolder,
  openByDescriptor,
  openByPath,
  openWhole,
  openWholeSync,
} from "./open-folder.ts";

/** The folders below the root of a disk storage. */
export interface FolderTree {
  /** The root, as an absolute path. Links on the way to it are the operator's and followed. */
  readonly root: string;
  /**
   * Opens a folder; no link on the way is followed. The caller closes it.
   * @throws StorageError `not-found`, `not-a-folder` when it, or one above it, is a file or a link, `unavailable` when
   *   the root itself is missing.
   */
  open(segments: readonly string[]): Promise<OpenFolder>;
  /** The same at once, for disks that are quick (`latency-guard.ts`); `undefined` where that fails, and where paths must be confirmed. */
  openSync(segments: readonly string[]): OpenFolder | undefined;
}

/**
 * The folders below a root that exists.
 * @throws Error of the system when it cannot be resolved.
 */
export function createFolderTree(root: string): FolderTree {
  const realRoot = realpathSync(root);
  const byDescriptor = hasDescriptorPaths();

  function openRoot(): Promise<OpenFolder> {
    const opened = byDescriptor ? openByDescriptor(`${root}/.`) : openByPath(realRoot);
    return mapErrorCode(mapErrorCode(opened, "not-found", "unavailable"), "not-a-folder", "unavailable");
  }

  async function walk(segments: readonly string[]): Promise<OpenFolder> {
    let folder = await openRoot();
    for (const name of segments) {
      const above = folder;
      folder = await above.enter(name).finally(() => above.close());
    }
    return folder;
  }

  /** One step instead of one for each segment; where it fails, the walk tells why. */
  function tryWhole(segments: readonly string[]): Promise<OpenFolder | undefined> {
    if (!byDescriptor) return openByPath(join(realRoot, ...segments)).catch(() => undefined);
    return openWhole(join(root, ...segments), toChecked(segments));
  }

  /** The root's own path is the operator's: links can only be below it, and on the way to the last segment. */
  function toChecked(segments: readonly string[]): string | undefined {
    return segments.length > 1 ? join(realRoot, ...segments) : undefined;
  }

  function openSync(segments: readonly string[]): OpenFolder | undefined {
    if (!byDescriptor || !segments.every(isKeepable)) return undefined;
    return openWholeSync(segments.length > 0 ? join(root, ...segments) : `${root}/.`, toChecked(segments));
  }

  return {
    root,
    open: async (segments) => {
      if (!segments.every(isKeepable)) throw new StorageError("not-found");
      const folder = segments.length > 0 ? await tryWhole(segments) : undefined;
      return folder ?? walk(segments);
    },
    openSync,
  };
}
