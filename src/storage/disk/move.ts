import type { BigIntStats } from "node:fs";
import { link, rename, rmdir, unlink } from "node:fs/promises";
import {
  hasCode,
  type Placement,
  type StorageEntry,
  StorageError,
  type TransferOptions,
} from "../../contracts/storage-adapter.ts";
import { foldPath } from "../../contracts/storage-path.ts";
import { isOfKind, meetsConditions } from "../conditions.ts";
import { NO_HARD_LINKS } from "./commit.ts";
import { mapSystemErrors, systemCode, toStorageError } from "./errors.ts";
import { readNames } from "./folder-names.ts";
import { statMember } from "./list.ts";
import { type OpenFolder, withNameLock } from "./open-folder.ts";
import { hasRecords, type PropertyOwner, withPropertiesMoved } from "./properties.ts";
import { removeFolder } from "./remove.ts";
import type { MemberName } from "./system-calls.ts";
import { releaseTemporaryName, removeReturning, reserveTemporaryName, returnLater } from "./temporary-files.ts";

/** A name in an open folder. */
export interface Place {
  readonly folder: OpenFolder;
  readonly name: string;
}

/** What a rename can fail with if something was created at the new name meanwhile. */
const TAKEN = {
  EEXIST: "already-exists",
  ENOTEMPTY: "already-exists",
  ENOTDIR: "already-exists",
  EISDIR: "already-exists",
} as const;
const CODES = { ...TAKEN, ENOENT: "not-found", EINVAL: "denied" } as const;
/** How often a move replaces what others put at the new name while it is free. */
const MAX_REPEATS = 20;

/**
 * Moves a member: a rename, under the locks of both names. `follow` returns the entry as which the member is shown.
 * @throws the system's EXDEV if the places are on different devices; what `StorageAdapter.move` throws.
 */
export async function moveMember(
  from: Place,
  to: Place,
  options: TransferOptions,
  follow: (member: StorageEntry) => Promise<StorageEntry>,
  mustFlush: boolean,
): Promise<Placement> {
  return withBothLocks(from, to, async () => {
    const member = await statMember(from.folder, from.name, { hasLock: true });
    const entry = member && (await follow(member));
    if (member === undefined || entry === undefined || !isOfKind(entry.kind, options))
      throw new StorageError("not-found");
    const { ifMatch, signal } = options;
    if (!meetsConditions(entry.etag, ifMatch ? { ifMatch } : {})) throw new StorageError("precondition-failed");
    signal?.throwIfAborted();
    return placeMember(from, to, member.kind, { replace: options.replace === true, mustFlush });
  });
}

/**
 * Renames a member to a place, whose lock the caller holds. What is there is replaced, or `already-exists`.
 * @throws the system's EXDEV
 */
export async function placeMember(
  from: Place,
  to: Place,
  kind: StorageEntry["kind"],
  options: { readonly replace: boolean; readonly mustFlush: boolean },
): Promise<Placement> {
  const present = await lookAt(to);
  const isOneName = present !== undefined && (await areOneName(from, to, present));
  const found = isOneName ? undefined : present;
  if (found !== undefined && !options.replace) throw new StorageError("already-exists");
  await Promise.all([from.folder.confirm(), to.folder.confirm()]);
  const hasProperties = (await hasRecords(from.folder)) || (await hasRecords(to.folder));
  const moved = hasProperties ? await from.folder.lookUp(from.name, { hasLock: true }) : undefined;
  const replace = options.replace || isOneName;
  const place = (): Promise<void> => renameInto(from, to, kind, { found, replace });
  if (moved === undefined) await place();
  else {
    const { mustFlush } = options;
    const [here, there] = [from, to].map((place) => ({ ...place, stats: moved })) as [PropertyOwner, PropertyOwner];
    await withPropertiesMoved(here, there, { mustFlush, replaced: found }, place);
  }
  await Promise.all([from.folder.confirm(), to.folder.confirm()]);
  return found === undefined ? "created" : "replaced";
}

async function renameInto(
  from: Place,
  to: Place,
  kind: StorageEntry["kind"],
  { found, replace }: { readonly found: BigIntStats | undefined; readonly replace: boolean },
): Promise<void> {
  const [source, target] = [from.folder.at(from.name), to.folder.at(to.name)];
  if (found === undefined) {
    // A rename is one step, but would replace what another process has just made.
    const isRename = replace || kind !== "file";
    if (isRename || !(await hardLinkAndUnlink(from, to))) await renameTo(source, target);
  } else if (kind !== "folder" && !found.isDirectory()) await replaceFile(from, target, found);
  else await renameOver(from, to);
}

/**
 * Whether two names are one: a disk may take names for the same that differ in case, or in the composition of their
 * characters. Two hard links to one file are both in the list of the folder.
 */
async function areOneName(from: Place, to: Place, found: BigIntStats): Promise<boolean> {
  const isAlike = from.folder.identity() === to.folder.identity() && foldPath(from.name) === foldPath(to.name);
  if (!isAlike || !isSameFile(await lookAt(from), found)) return false;
  if (found.isDirectory() || found.nlink === 1n) return true;
  const wanted = new Set([from.name, to.name]);
  for await (const names of readNames(from.folder, () => true)) for (const name of names) wanted.delete(name);
  return wanted.size > 0;
}

/** If both names are hard links to one file, the system's rename does nothing and leaves the old name. */
async function replaceFile({ folder, name }: Place, target: MemberName, found: BigIntStats): Promise<void> {
  const member = found.nlink > 1n ? await folder.lookUp(name, { hasLock: true }) : undefined;
  await (isSameFile(member, found)
    ? mapSystemErrors(unlink(folder.at(name)), CODES)
    : renameTo(folder.at(name), target));
}

/**
 * Moves a file in two steps that never replace anything, and of which one fails if another process moves the same file.
 * The system may report that a step has failed although it was taken. So the new name is removed only while the file
 * has another one. Returns `false` if the file system has no hard links.
 */
async function hardLinkAndUnlink(from: Place, to: Place): Promise<boolean> {
  const [source, target] = [from.folder.at(from.name), to.folder.at(to.name)];
  const file = await lookAt(from);
  try {
    await link(source, target);
  } catch (error) {
    const code = systemCode(error) ?? "";
    if (NO_HARD_LINKS.includes(code)) return false;
    const hasBoth = code !== "EEXIST" && isSameFile(await lookAt(from), file) && isSameFile(await lookAt(to), file);
    if (hasBoth) await unlink(target).catch(() => undefined);
    throw toStorageError(error, CODES);
  }
  try {
    await unlink(source);
  } catch (error) {
    const placed = await lookAt(to);
    if (isSameFile(placed, file)) {
      // Another process that has moved the file has a name for it, too.
      const isOnlyName = systemCode(error) === "ENOENT" ? placed?.nlink === 1n : !isSameFile(await lookAt(from), file);
      if (isOnlyName) return true;
      await unlink(target).catch(() => undefined);
    }
    throw toStorageError(error, CODES);
  }
  return true;
}

function isSameFile(one: BigIntStats | undefined, other: BigIntStats | undefined): boolean {
  return one !== undefined && one.ino === other?.ino && one.dev === other.dev;
}

function lookAt({ folder, name }: Place): Promise<BigIntStats | undefined> {
  return folder.lookUp(name, { hasLock: true });
}

/** What was at a place, under a temporary name, or on the way there. */
interface Aside {
  readonly name: string;
  readonly stats: BigIntStats;
}

/**
 * Renames a member to a place. What is there goes aside first, and is removed after the rename; if that fails, it comes
 * back. What other processes put there meanwhile is replaced as well.
 * @throws StorageError `unavailable` if it cannot come back.
 */
async function renameOver(from: Place, to: Place): Promise<void> {
  const member = await lookAt(from);
  const asides: Aside[] = [];
  try {
    await takePlace(from, to, member, asides);
  } catch (error) {
    const [first, ...others] = asides;
    const isBack = first === undefined || (await bringBack(to, first, member));
    for (const { name } of others) await removeOrReturn(to, name);
    if (isBack) throw error;
    throw new StorageError("unavailable", "What was to be replaced could not come back.", { cause: error });
  }
  removeReturning({ folder: to.folder.identity(), name: to.name });
  // The move is done: what remains of the old content, the next clean-up removes.
  for (const { name, stats } of asides) {
    const { folder } = to;
    const removal = stats.isDirectory() ? removeFolder(folder, name) : unlink(folder.at(name));
    releaseTemporaryName(name, await isDone(removal));
  }
}

async function takePlace(from: Place, to: Place, member: BigIntStats | undefined, asides: Aside[]): Promise<void> {
  for (let repeats = 0; ; repeats += 1) {
    await moveAside(to, asides);
    try {
      return await renameTo(from.folder.at(from.name), to.folder.at(to.name));
    } catch (error) {
      const found = await lookAt(to);
      // A rename may have been done although it is reported as failed.
      const isTaken = found === undefined ? hasCode(error, "already-exists") : !isSameFile(found, member);
      if (!isTaken || repeats === MAX_REPEATS || !isSameFile(await lookAt(from), member)) throw error;
    }
  }
}

async function moveAside(to: Place, asides: Aside[]): Promise<void> {
  const stats = await lookAt(to);
  if (stats === undefined) return;
  const name = reserveTemporaryName();
  // Noted before: the rename may be done although it is reported as failed.
  asides.push({ name, stats });
  try {
    await renameTo(to.folder.at(to.name), to.folder.at(name));
  } catch (error) {
    if (!hasCode(error, "not-found")) throw error;
    // Another process has taken it away.
    if ((await lookAt({ folder: to.folder, name })) === undefined) {
      asides.pop();
      releaseTemporaryName(name);
    }
  }
}

/** Removes what others have put at a place if it is an empty folder; otherwise it comes back when the name is free. */
async function removeOrReturn({ folder, name }: Place, aside: string): Promise<void> {
  if (await isDone(rmdir(folder.at(aside)))) releaseTemporaryName(aside);
  else returnLater(aside, { folder: folder.identity(), name });
}

/** Brings back to a place what it had. Returns `false` if it has neither that nor the moved member then. */
async function bringBack(to: Place, { name, stats }: Aside, member: BigIntStats | undefined): Promise<boolean> {
  const found = await lookAt(to).catch(() => undefined);
  const isBack = isSameFile(found, stats);
  if (isBack || isSameFile(found, member)) {
    releaseTemporaryName(name, isBack);
    return true;
  }
  // A rename replaces an empty folder by a folder, and fails for all other folders.
  const mayRename = found === undefined || stats.isDirectory();
  const hasCome = mayRename && (await isDone(rename(to.folder.at(name), to.folder.at(to.name))));
  if (hasCome) releaseTemporaryName(name);
  else returnLater(name, { folder: to.folder.identity(), name: to.name });
  return hasCome;
}

function isDone(call: Promise<unknown>): Promise<boolean> {
  return call.then(
    () => true,
    () => false,
  );
}

async function renameTo(source: MemberName, target: MemberName): Promise<void> {
  try {
    await rename(source, target);
  } catch (error) {
    throw systemCode(error) === "EXDEV" ? error : toStorageError(error, CODES);
  }
}

/** Runs an action under the locks of two names, always taken in the same order. @throws StorageError `denied` */
export async function withBothLocks<T>(one: Place, other: Place, action: () => Promise<T>): Promise<T> {
  const [a, b] = [keyOf(one), keyOf(other)];
  if (a === b) throw new StorageError("denied", "Both paths of a move lead to the same member.");
  const [first, second] = a < b ? [one, other] : [other, one];
  return withNameLock(first.folder, first.name, () => withNameLock(second.folder, second.name, action));
}

function keyOf({ folder, name }: Place): string {
  return `${folder.identity()}/${name}`;
}
