import { opendir } from "node:fs/promises";
import type { FolderTree } from "./folder-tree.ts";
import { isUploadName, RECORDS_FOLDER } from "./names.ts";
import type { OpenFolder } from "./open-folder.ts";
import { removeIfAbandoned } from "./temporary-files.ts";
import { createUploadCleanUp, type Locate, type UploadCleanUp } from "./uploads.ts";

/**
 * Delays before each clean-up of a root, in milliseconds after the previous one. The second run finds files of a
 * process that was just ending. The third finds files of other machines, or of an earlier run of this machine or
 * container, after they have been unchanged for an hour.
 */
const CLEAN_UP_DELAYS = [0, 10_000, 3_900_000];

/**
 * Removes temporary files of ended processes below a root. Runs in the background, one folder at a time, does not keep
 * the process alive, and does not cross into other file systems. Runs again later if it had to keep a temporary file.
 * Files that it cannot read or remove stay.
 */
export async function cleanUpTemporaryFiles(tree: FolderTree, locate: Locate): Promise<void> {
  const removeIfLost = createUploadCleanUp(tree, locate);
  for (const delay of CLEAN_UP_DELAYS) {
    await pause(delay);
    if (!(await cleanUpOnce(tree, removeIfLost))) return;
  }
}

/** Returns whether a file was kept that may be an abandoned temporary file. */
async function cleanUpOnce(tree: FolderTree, removeIfLost: UploadCleanUp): Promise<boolean> {
  const waiting: (readonly string[])[] = [[]];
  let isKept = false;
  let device: string | undefined;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    await pause(1);
    const swept = await cleanUpFolder(tree, removeIfLost, next, device).catch(() => undefined);
    if (swept === undefined) continue;
    device = swept.device;
    isKept ||= swept.isKept;
    for (const name of swept.folders) waiting.push([...next, name]);
  }
  return isKept;
}

/** What came of the clean-up of one folder. */
interface CleanedFolder {
  readonly device: string;
  readonly folders: readonly string[];
  readonly isKept: boolean;
}

/**
 * Removes abandoned temporary files in one folder and returns the names of its subfolders. Skips folders on another
 * device.
 */
async function cleanUpFolder(
  tree: FolderTree,
  removeIfLost: UploadCleanUp,
  segments: readonly string[],
  only: string | undefined,
): Promise<CleanedFolder | undefined> {
  const folders: string[] = [];
  let isKept = false;
  const folder = await tree.open(segments);
  try {
    const [device = ""] = folder.identity().split(":");
    if (only !== undefined && device !== only) return undefined;
    for await (const member of await opendir(String(folder.at(".")))) {
      if (isUploadName(member.name)) isKept = (await removeIfLost(folder, member.name)) || isKept;
      else if (await removeIfAbandoned(folder, member.name)) isKept = true;
      else if (member.name === RECORDS_FOLDER) isKept = (await cleanUpRecords(folder)) || isKept;
      else if (member.isDirectory()) folders.push(member.name);
    }
    return { device, folders, isKept };
  } finally {
    folder.close();
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
