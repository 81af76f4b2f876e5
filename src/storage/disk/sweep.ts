import { opendir, unlink } from "node:fs/promises";
import { toPathSegments } from "../../contracts/storage-path.ts";
import { undefinedIfMissing } from "./errors.ts";
import type { FolderTree } from "./folder-tree.ts";
import { isUploadName, RECORDS_FOLDER, UPLOADS_FOLDER } from "./names.ts";
import type { OpenFolder } from "./open-folder.ts";
import { removeIfAbandoned } from "./temporary-files.ts";
import { createUploadStates, type UploadStates } from "./uploads/states.ts";

/**
 * Delays before each clean-up of a root, in milliseconds after the previous one. The second run finds files of a
 * process that was just ending. The third finds files of other machines, or of an earlier run of this machine or
 * container, after they have been unchanged for an hour.
 */
const CLEAN_UP_DELAYS = [0, 10_000, 3_900_000];

/** Follows the links of a path, if links are followed. */
type Locate = (segments: readonly string[]) => Promise<readonly string[]>;

/** What tells whether the bytes of an upload are still needed. */
interface Uploads {
  readonly states: UploadStates;
  readonly locate: Locate;
}

/**
 * Removes temporary files of ended processes below a root. Runs in the background, one folder at a time, does not keep
 * the process alive, and does not cross into other file systems. Runs again later if it had to keep a temporary file.
 * Files that it cannot read or remove stay.
 */
export async function cleanUpTemporaryFiles(tree: FolderTree, locate: Locate): Promise<void> {
  const uploads = { states: createUploadStates(tree, false), locate };
  for (const delay of CLEAN_UP_DELAYS) {
    await pause(delay);
    if (!(await cleanUpOnce(tree, uploads))) return;
  }
}

/** Returns whether a file was kept that may be an abandoned temporary file. */
async function cleanUpOnce(tree: FolderTree, uploads: Uploads): Promise<boolean> {
  const waiting: string[][] = [[]];
  let isKept = false;
  let device: string | undefined;
  for (let segments = waiting.pop(); segments !== undefined; segments = waiting.pop()) {
    await pause(1);
    const swept = await cleanUpFolder(tree, uploads, segments, device).catch(() => undefined);
    if (swept === undefined) continue;
    device = swept.device;
    isKept ||= swept.isKept;
    for (const name of swept.folders) waiting.push([...segments, name]);
  }
  return isKept;
}

/**
 * Removes abandoned temporary files in one folder and returns the names of its subfolders. Skips folders on another
 * device.
 */
async function cleanUpFolder(
  tree: FolderTree,
  uploads: Uploads,
  segments: readonly string[],
  only: string | undefined,
): Promise<{ readonly device: string; readonly folders: readonly string[]; readonly isKept: boolean } | undefined> {
  const folders: string[] = [];
  let isKept = false;
  const folder = await tree.open(segments);
  try {
    const [device = ""] = folder.identity().split(":");
    if (only !== undefined && device !== only) return undefined;
    for await (const member of await opendir(String(folder.at(".")))) {
      if (isUploadName(member.name)) await removeIfLost(tree, uploads, folder, member.name);
      else if (await removeIfAbandoned(folder, member.name)) isKept = true;
      else if (member.name === RECORDS_FOLDER) isKept = (await cleanUpRecords(folder)) || isKept;
      else if (member.isDirectory()) folders.push(member.name);
    }
    return { device, folders, isKept };
  } finally {
    folder.close();
  }
}

/** Removes the bytes of an upload that is gone, or whose file is to be in another folder: they were moved with theirs. */
async function removeIfLost(
  tree: FolderTree,
  { states, locate }: Uploads,
  folder: OpenFolder,
  name: string,
): Promise<void> {
  if (name === UPLOADS_FOLDER) return;
  const upload = await states.readOf(name);
  const segments = upload && (await locate(toPathSegments(upload.path).slice(0, -1)));
  const home = segments && (await tree.open(segments).catch(undefinedIfMissing));
  try {
    if (home?.identity() !== folder.identity()) await unlink(folder.at(name));
  } finally {
    home?.close();
  }
}

/** Removes abandoned temporary files among the records of properties. */
async function cleanUpRecords(folder: OpenFolder): Promise<boolean> {
  let isKept = false;
  const records = await folder.enter(RECORDS_FOLDER);
  try {
    for await (const { name } of await opendir(String(records.at(".")))) {
      if (await removeIfAbandoned(records, name)) isKept = true;
    }
    return isKept;
  } finally {
    records.close();
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds).unref());
}
