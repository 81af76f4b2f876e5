import { randomUUID } from "node:crypto";
import { lstat, lutimes, rename, unlink } from "node:fs/promises";
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
/** How often a temporary folder is touched. Some of the attempts may fail. */
const TOUCH_MILLISECONDS = 600_000;

const inUse = new Set<string>();
/**
 * Names of this process that could not be removed after their writes failed. The files of names that are dropped are
 * removed when this process has ended.
 */
const left = createBoundedMap<string, true>(10_000);
/** Names of this process whose member has to get another name back, with that name and its folder. */
const returning = new Map<string, Home>();

/** A name in a folder, whose identity is that of `OpenFolder.identity`. */
interface Home {
  readonly folder: string;
  readonly name: string;
}

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
  if (!isRemoved) left.set(name, true);
}

/**
 * Touches a temporary folder from time to time, until the caller calls the function that it returns. What is written
 * deep below the folder leaves its times as they are, and other machines would take it for abandoned.
 */
export function keepTouching(folder: OpenFolder, name: string): () => void {
  const timer = setInterval(() => {
    const now = new Date();
    lutimes(folder.at(name), now, now).catch(() => undefined);
  }, TOUCH_MILLISECONDS);
  timer.unref();
  return () => clearInterval(timer);
}

/**
 * Ends the use of a temporary name. As soon as its former name is free, the next clean-up or listing of this process
 * gives its member that name back.
 */
export function returnLater(name: string, home: Home): void {
  inUse.delete(name);
  returning.set(name, home);
}

/** Something has replaced what is to come back to a name: the next clean-up or listing removes it. */
export function removeReturning(home: Home): void {
  for (const [name, { folder, name: former }] of returning) {
    if (folder !== home.folder || former !== home.name) continue;
    returning.delete(name);
    left.set(name, true);
  }
}

/**
 * Removes a member if it is a temporary file of an ended process, or gives it the name back that it had. Returns
 * whether it is one that was kept: its process may still run, or its name does not say which process made it.
 */
export async function removeIfAbandoned(folder: OpenFolder, name: string): Promise<boolean> {
  if (!isTemporaryName(name) || inUse.has(name) || isUploadName(name)) return false;
  const home = returning.get(name);
  try {
    if (home !== undefined) return !(await returnTo(home, folder, name));
    const stats = await lstat(folder.at(name));
    // A client may give a finished file an old time. It cannot set the time of the last change.
    if (!(await isRemovable(name, Math.max(stats.mtimeMs, stats.ctimeMs)))) return true;
    await (stats.isDirectory() ? removeFolder(folder, name) : unlink(folder.at(name)));
    left.delete(name);
  } catch {
    // Another process removed it first, or this process may not write to the folder.
  }
  return false;
}

/** Gives a member the name back that it had. Returns `false` if something else has it, or is to have it before. */
async function returnTo(home: Home, folder: OpenFolder, name: string): Promise<boolean> {
  if (folder.identity() !== home.folder || !(await isNext(home, folder, name))) return false;
  // Most do not wait for the lock, which a move has while it removes what it has replaced.
  if ((await folder.lookUp(home.name)) !== undefined) return false;
  return withNameLock(folder, home.name, async () => {
    if (!returning.has(name) || (await folder.lookUp(home.name, { hasLock: true })) !== undefined) return false;
    await rename(folder.at(name), folder.at(home.name));
    returning.delete(name);
    return true;
  });
}

/** Whether no other member is to have the name before this one. Forgets those that others have removed. */
async function isNext(home: Home, folder: OpenFolder, name: string): Promise<boolean> {
  for (const [other, { folder: from, name: former }] of returning) {
    if (other === name) return true;
    if (from !== home.folder || former !== home.name) continue;
    if ((await folder.lookUp(other)) !== undefined) return false;
    returning.delete(other);
  }
  return false;
}

/** Whether a temporary file was left by this process, or its process has ended. */
async function isRemovable(name: string, modified: number): Promise<boolean> {
  const [, creator] = NAME.exec(name) ?? [];
  if (creator === undefined) return false;
  return left.get(name) === true || isAbandoned(creator, modified, FOREIGN_FILE_MILLISECONDS);
}
