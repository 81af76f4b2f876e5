import { randomUUID } from "node:crypto";
import { lstat, rmdir, unlink } from "node:fs/promises";
import { hasEnded, hostIdentity } from "../../platform/process-identity-node.ts";
import type { OpenFolder } from "./open-folder.ts";

/*
 * The file that a write fills is named `.fileferry-<host>-<process>-<random>.tmp`, beside the file it will become.
 * Every name that begins and ends so is reserved: no such member exists for a client, none can be made.
 */
const RESERVED = /^\.fileferry-.*\.tmp$/is;
const NAME = /^\.fileferry-([0-9a-f]{8})-([0-9]+)-[0-9a-f]{24}\.tmp$/;
const ABANDONED_AFTER_MILLISECONDS = 3_600_000;

const inUse = new Set<string>();
/** Names of this process's that could not be removed when their writes had failed. */
const left = new Set<string>();
/** So many of them are remembered, those of the last: the others are found when they have rested. */
const MOST_LEFT = 10_000;

/** Whether a name is kept for files of unfinished writes. */
export function isTemporaryName(name: string): boolean {
  return RESERVED.test(name);
}

/** A new name for the file of an unfinished write. It counts as in use until {@link releaseTemporaryName}. */
export function createTemporaryFile(): string {
  const random = randomUUID().replaceAll("-", "").slice(0, 24);
  const name = `.fileferry-${hostIdentity()}-${process.pid}-${random}.tmp`;
  inUse.add(name);
  return name;
}

/** Ends the use of a temporary name; what still has it, if anything does, is removed when somebody comes by. */
export function releaseTemporaryName(name: string, isRemoved = true): void {
  inUse.delete(name);
  if (isRemoved) return;
  left.add(name);
  const [oldest] = left;
  if (oldest !== undefined && left.size > MOST_LEFT) left.delete(oldest);
}

/**
 * Removes a member if it is what an ended process left of a write. Whether it may be one but was kept, because its process may still be
 * running.
 */
export async function removeLeftover(folder: OpenFolder, name: string): Promise<boolean> {
  if (!isTemporaryName(name) || inUse.has(name)) return false;
  try {
    const stats = await lstat(folder.at(name));
    if (!isAbandoned(name, stats.mtimeMs)) return true;
    // An unfinished folder is empty.
    await (stats.isDirectory() ? rmdir(folder.at(name)) : unlink(folder.at(name)));
    left.delete(name);
  } catch {
    // Another process was faster, or the folder is not ours to write.
  }
  return false;
}

/** A process elsewhere, which may share the disk, cannot be asked whether it runs: its file must have rested for an hour. */
function isAbandoned(name: string, modified: number): boolean {
  const [, host, writer] = NAME.exec(name) ?? [];
  if (host === undefined) return false;
  if (left.has(name)) return true;
  if (modified < Date.now() - ABANDONED_AFTER_MILLISECONDS) return true;
  return hasEnded(host, Number(writer), modified);
}
