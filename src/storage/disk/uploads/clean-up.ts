import { unlink } from "node:fs/promises";
import { toPathSegments } from "../../../contracts/storage-path.ts";
import { UPLOADS_FOLDER } from "../../upload-checks.ts";
import { undefinedIfMissing } from "../errors.ts";
import type { FolderTree } from "../folder-tree.ts";
import { type OpenFolder, withFolder } from "../open-folder.ts";
import { createUploadStates, toBytesName } from "./states.ts";

/** Follows the links of a path, if links are followed. */
export type Locate = (segments: readonly string[]) => Promise<readonly string[]>;

/**
 * Removes a member with the bytes of an upload that is gone. The same holds if its file is to be in another folder:
 * then the bytes were moved with theirs.
 */
export type UploadCleanUp = (folder: OpenFolder, name: string) => Promise<void>;

/** Creates the {@link UploadCleanUp} of a disk storage. */
export function createUploadCleanUp(tree: FolderTree, locate: Locate): UploadCleanUp {
  const states = createUploadStates(tree, false);

  return async function removeIfLost(folder, name) {
    if (name === UPLOADS_FOLDER) return;
    const upload = await states.readOf(name);
    const segments = upload && (await locate(toPathSegments(upload.path).slice(0, -1)));
    const home = segments && (await tree.open(segments).catch(undefinedIfMissing));
    try {
      if (home?.identity() !== folder.identity()) await unlink(folder.at(name));
    } finally {
      home?.close();
    }
  };
}

/** Removes the bytes of uploads that were moved with a folder: their uploads are lost. Never rejects. */
export type MovedUploadCleanUp = (from: readonly string[], to: readonly string[]) => Promise<void>;

/** Creates the {@link MovedUploadCleanUp} of a disk. What it cannot remove, the next start of a process removes. */
export function createMovedUploadCleanUp(tree: FolderTree, locate: Locate): MovedUploadCleanUp {
  const states = createUploadStates(tree, false);
  const removeIfLost = createUploadCleanUp(tree, locate);

  async function removeBelow(from: readonly string[], to: readonly string[]): Promise<void> {
    for await (const { key, path, isDone } of states.list()) {
      const folder = toPathSegments(path).slice(0, -1);
      if (isDone === true || !from.every((name, index) => name === folder[index])) continue;
      const moved = tree.open([...to, ...folder.slice(from.length)]);
      await withFolder(moved, (opened) => removeIfLost(opened, toBytesName(key))).catch(() => undefined);
    }
  }

  return (from, to) => removeBelow(from, to).catch(() => undefined);
}
