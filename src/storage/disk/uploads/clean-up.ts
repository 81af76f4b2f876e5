import { unlink } from "node:fs/promises";
import { toPathSegments } from "../../../contracts/storage-path.ts";
import { UPLOADS_FOLDER } from "../../upload-checks.ts";
import { undefinedIfMissing } from "../errors.ts";
import type { FolderTree } from "../folder-tree.ts";
import type { OpenFolder } from "../open-folder.ts";
import { createUploadStates } from "./states.ts";

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
