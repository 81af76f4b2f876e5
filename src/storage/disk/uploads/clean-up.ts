import { lstat, readdir, rmdir, unlink } from "node:fs/promises";
import { isPrefix, toPathSegments } from "../../../contracts/storage-path.ts";
import { UPLOADS_FOLDER } from "../../upload-checks.ts";
import { ignoreErrors, undefinedIfMissing } from "../errors.ts";
import type { FolderTree } from "../folder-tree.ts";
import { type OpenFolder, toIdentity, withFolder } from "../open-folder.ts";
import { BIGINT } from "../system-calls.ts";
import { removeIfAbandoned } from "../temporary-files.ts";
import { removeEndedEntries } from "./lock.ts";
import { createUploadStates, toBytesName, toStatePath } from "./states.ts";

const LOCKS = /^([0-9a-f]{32})\.lock$/;
const NEW_LOCKS_MS = 60_000;

/** Follows the symlinks of a path, if the storage does. */
export type Locate = (segments: readonly string[]) => Promise<readonly string[]>;

/**
 * Removes a member with the bytes of an upload that no longer exists, or whose file is to be in another folder: then
 * the bytes were moved with their folder. Leaves those of another storage whose root is below or above. In the folder
 * with the states, removes what ended processes have left.
 * Returns whether it kept a temporary file that may be abandoned.
 */
export type UploadCleanUp = (folder: OpenFolder, name: string) => Promise<boolean>;

/** Creates the {@link UploadCleanUp} of a disk storage. */
export function createUploadCleanUp(tree: FolderTree, locate: Locate): UploadCleanUp {
  const states = createUploadStates(tree, { mustFlush: false });

  return async function removeIfLost(folder, name) {
    // It may be of another storage, and of another user.
    if (name === UPLOADS_FOLDER) return withFolder(folder.enter(name), cleanUpStates).catch(() => false);
    const upload = await states.readOf(name);
    if (upload === undefined && (await mayBeOfOther(tree, folder, name))) return false;
    const segments = upload && (await locate(toPathSegments(upload.path).slice(0, -1)));
    const home = segments && (await tree.open(segments).catch(undefinedIfMissing));
    try {
      if (home?.identity() !== folder.identity()) await unlink(folder.at(name));
    } finally {
      home?.close();
    }
    return false;
  };
}

/** Removes the bytes of uploads that were moved with a folder: their uploads are lost. Never rejects. */
export type MovedUploadCleanUp = (from: readonly string[], to: readonly string[]) => Promise<void>;

/** Creates the {@link MovedUploadCleanUp} of a disk. What it cannot remove, the next start of a process removes. */
export function createMovedUploadCleanUp(tree: FolderTree, locate: Locate): MovedUploadCleanUp {
  const states = createUploadStates(tree, { mustFlush: false });
  const removeIfLost = createUploadCleanUp(tree, locate);

  async function removeBelow(from: readonly string[], to: readonly string[]): Promise<void> {
    for await (const { key, path, isDone } of states.list()) {
      const folder = toPathSegments(path).slice(0, -1);
      if (isDone === true || !isPrefix(from, folder)) continue;
      const moved = tree.open([...to, ...folder.slice(from.length)]);
      await withFolder(moved, (opened) => removeIfLost(opened, toBytesName(key))).catch(() => undefined);
    }
  }

  return (from, to) => removeBelow(from, to).catch(() => undefined);
}

/** Whether a storage whose root is below or above that of the caller may have the upload with these bytes. */
async function mayBeOfOther(tree: FolderTree, folder: OpenFolder, bytesName: string): Promise<boolean> {
  const statePath = toStatePath(bytesName);
  if (statePath === undefined) return false;
  const own = await withFolder(tree.open([]), async (root) => root.identity());
  // Another user may have the states, and nothing else can be seen then.
  return hasStateAbove(folder, statePath, own).catch(() => true);
}

/**
 * Whether a folder above the bytes of an upload has its state: the root of another storage. The state comes first, so
 * no upload that goes on is missed. `own`: the identity of the caller's root. A state there is one that cannot be read.
 */
async function hasStateAbove(folder: OpenFolder, statePath: string, own: string): Promise<boolean> {
  let below = "";
  for (let above = "."; ; above += "/..") {
    const identity = toIdentity(await lstat(folder.at(above), BIGINT));
    // The root of the file system is its own parent.
    if (identity === below) return false;
    if (identity !== own && (await exists(folder, `${above}/${statePath}`))) return true;
    below = identity;
  }
}

async function cleanUpStates(all: OpenFolder): Promise<boolean> {
  let isKept = false;
  for (const owner of await readdir(String(all.at(".")))) {
    // What cannot be read must not end the clean-up of the other folders.
    isKept = (await withFolder(all.enter(owner), cleanUpOwner).catch(() => false)) || isKept;
  }
  return isKept;
}

/** Removes temporary files, and folders for the locks of uploads that are gone. */
async function cleanUpOwner(owner: OpenFolder): Promise<boolean> {
  let isKept = false;
  for (const name of await readdir(String(owner.at(".")))) {
    const [, id] = LOCKS.exec(name) ?? [];
    if (id === undefined) isKept = (await removeIfAbandoned(owner, name)) || isKept;
    else if (!(await exists(owner, `${id}.json`))) await removeOldLocks(owner, name);
  }
  return isKept;
}

/** A creation makes the folder before the state, so a new folder stays. */
async function removeOldLocks(owner: OpenFolder, name: string): Promise<void> {
  await withFolder(owner.enter(name), removeEndedEntries);
  const { mtimeMs } = await lstat(owner.at(name));
  if (Date.now() - mtimeMs > NEW_LOCKS_MS) await ignoreErrors(rmdir(owner.at(name)), "ENOENT", "ENOTEMPTY", "EEXIST");
}

async function exists(folder: OpenFolder, name: string): Promise<boolean> {
  return (await ignoreErrors(lstat(folder.at(name)), "ENOENT")) !== undefined;
}
