import { randomUUID } from "node:crypto";
import { lstat, rename, unlink } from "node:fs/promises";
import { createBoundedMap } from "../../platform/bounded-map.ts";
import { isAbandoned, processIdentity } from "../../platform/process-identity-node.ts";
import { isTemporaryName, isUploadName } from "./names.ts";
import { type OpenFolder, withNameLock } from "./open-folder.ts";
import { removeFolder } from "./remove.ts";

/*
 * A write creates the file `.fileferry-<process>-<random>.tmp` next to its target; `<process>` is the identity of the
 * process. All names with this beginning and end are reserved (`names.ts`).
 */
const NAME = /^\.fileferry-([0-9a-f]{8}-[0-9]+-[0-9]*)-[0-9a-f]{24}\.tmp$/;
/** How long a file of another machine must be unchanged to count as abandoned. */
const FOREIGN_FILE_MILLISECONDS = 3_600_000;

const inUse = new Set<string>();
/**
 * Names of this process that could not be removed after their writes failed, each with the name that its member had
 * and has to get back, or with an empty text. The files of names that are dropped are removed when this process has
 * ended.
 */
const left = createBoundedMap<string, string>(10_000);

/** Creates a new name for a temporary file. The name is in use until {@link releaseTemporaryName}. */
export function reserveTemporaryName(): string {
  const random = randomUUID().replaceAll("-", "").slice(0, 24);
  const name = `.fileferry-${processIdentity()}-${random}.tmp`;
  inUse.add(name);
  return name;
}

/** Ends the use of a temporary name. If its file remains, the next clean-up or listing removes it. */
export function releaseTemporaryName(name: string, isRemoved = true): void {
  inUse.delete(name);
  if (!isRemoved) left.set(name, "");
}

/** Ends the use of a temporary name. The next clean-up or listing gives its member the name back that it had. */
export function returnLater(name: string, home: string): void {
  inUse.delete(name);
  left.set(name, home);
}

/**
 * Removes a member if it is a temporary file of an ended process. Returns whether it is one that was kept: its process
 * may still run, or its name does not say which process made it.
 */
export async function removeIfAbandoned(folder: OpenFolder, name: string): Promise<boolean> {
  if (!isTemporaryName(name) || inUse.has(name) || isUploadName(name)) return false;
  const home = left.get(name) ?? "";
  try {
    if (home !== "") return !(await giveBack(folder, name, home));
    const stats = await lstat(folder.at(name));
    if (!(await isRemovable(name, stats.mtimeMs))) return true;
    await (stats.isDirectory() ? removeFolder(folder, name) : unlink(folder.at(name)));
    left.delete(name);
  } catch {
    // Another process removed it first, or this process may not write to the folder.
  }
  return false;
}

/** Gives a member the name back that it had. Returns `false` if something else has it now. */
function giveBack(folder: OpenFolder, name: string, home: string): Promise<boolean> {
  return withNameLock(folder, home, async () => {
    if ((await folder.lookUp(home, { hasLock: true })) !== undefined) return false;
    await rename(folder.at(name), folder.at(home));
    left.delete(name);
    return true;
  });
}

/** Whether a temporary file was left by this process, or its process has ended. */
async function isRemovable(name: string, modified: number): Promise<boolean> {
  const [, creator] = NAME.exec(name) ?? [];
  if (creator === undefined) return false;
  return left.get(name) !== undefined || isAbandoned(creator, modified, FOREIGN_FILE_MILLISECONDS);
}
