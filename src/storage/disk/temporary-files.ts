import { randomUUID } from "node:crypto";
import { lstat, rmdir, unlink } from "node:fs/promises";
import { hasEnded, hostIdentity } from "../../platform/process-identity-node.ts";
import type { OpenFolder } from "./open-folder.ts";

/*
 * A write creates the file `.fileferry-<host>-<process>-<random>.tmp` next to its target. All names with this beginning
 * and end are reserved: clients can neither see nor create such members.
 */
const RESERVED = /^\.fileferry-.*\.tmp$/is;
const NAME = /^\.fileferry-([0-9a-f]{8})-([0-9]+)-[0-9a-f]{24}\.tmp$/;
const ABANDONED_AFTER_MILLISECONDS = 3_600_000;

const inUse = new Set<string>();
/** Names of this process that could not be removed after their writes failed. */
const left = new Set<string>();
/**
 * Upper bound of `left`; older names are dropped. Their files are removed when they have been unchanged for an hour.
 */
const MAX_LEFT = 10_000;

/** Whether a name is reserved for temporary files. */
export function isTemporaryName(name: string): boolean {
  return RESERVED.test(name);
}

/** Creates a new name for a temporary file. The name is in use until {@link releaseTemporaryName}. */
export function reserveTemporaryName(): string {
  const random = randomUUID().replaceAll("-", "").slice(0, 24);
  const name = `.fileferry-${hostIdentity()}-${process.pid}-${random}.tmp`;
  inUse.add(name);
  return name;
}

/** Ends the use of a temporary name. If its file remains, the next clean-up or listing removes it. */
export function releaseTemporaryName(name: string, isRemoved = true): void {
  inUse.delete(name);
  if (isRemoved) return;
  left.add(name);
  const [oldest] = left;
  if (oldest !== undefined && left.size > MAX_LEFT) left.delete(oldest);
}

/**
 * Removes a member if it is a temporary file of an ended process. Returns whether it is one that was kept: its process
 * may still run, or its name does not say which process made it.
 */
export async function removeIfAbandoned(folder: OpenFolder, name: string): Promise<boolean> {
  if (!isTemporaryName(name) || inUse.has(name)) return false;
  try {
    const stats = await lstat(folder.at(name));
    if (!isAbandoned(name, stats.mtimeMs)) return true;
    // A temporary folder is always empty.
    await (stats.isDirectory() ? rmdir(folder.at(name)) : unlink(folder.at(name)));
    left.delete(name);
  } catch {
    // Another process removed it first, or this process may not write to the folder.
  }
  return false;
}

/**
 * Whether the process that wrote a temporary file has ended. The process may run on another machine that shares the
 * disk and cannot be asked; its file must be unchanged for an hour.
 */
function isAbandoned(name: string, modified: number): boolean {
  const [, host, writer] = NAME.exec(name) ?? [];
  if (host === undefined) return false;
  if (left.has(name)) return true;
  if (modified < Date.now() - ABANDONED_AFTER_MILLISECONDS) return true;
  return hasEnded(host, Number(writer), modified);
}
