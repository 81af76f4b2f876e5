import type { BigIntStats } from "node:fs";
import {
  type Placement,
  type StorageEntry,
  StorageError,
  type TransferOptions,
} from "../../contracts/storage-adapter.ts";
import { foldPath } from "../../contracts/storage-path.ts";
import { isOfKind, meetsConditions } from "../conditions.ts";
import { readNames } from "./folder-names.ts";
import { statMember } from "./list.ts";
import { renameOver } from "./moves/rename-over.ts";
import { hardLinkAndUnlink, isSameFile, lookUpPlace, type Place, renameOverFile, renameTo } from "./moves/steps.ts";
import { withNameLock } from "./open-folder.ts";
import { hasRecords, type PropertyOwner, withPropertiesMoved } from "./properties.ts";

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
  const present = await lookUpPlace(to);
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
  } else if (kind !== "folder" && !found.isDirectory()) await renameOverFile(from, target, found);
  else await renameOver(from, to);
}

/**
 * Whether two names are one: a disk may take names for the same that differ in case, or in the composition of their
 * characters. Two hard links to one file are both in the list of the folder.
 */
async function areOneName(from: Place, to: Place, found: BigIntStats): Promise<boolean> {
  const isAlike = from.folder.identity() === to.folder.identity() && foldPath(from.name) === foldPath(to.name);
  if (!isAlike || !isSameFile(await lookUpPlace(from), found)) return false;
  if (found.isDirectory() || found.nlink === 1n) return true;
  const wanted = new Set([from.name, to.name]);
  for await (const names of readNames(from.folder, () => true)) for (const name of names) wanted.delete(name);
  return wanted.size > 0;
}

/** Runs an action under the locks of two names, always taken in the same order. @throws StorageError `denied` */
async function withBothLocks<T>(one: Place, other: Place, action: () => Promise<T>): Promise<T> {
  const [a, b] = [keyOf(one), keyOf(other)];
  if (a === b) throw new StorageError("denied", "Both paths of a move lead to the same member.");
  const [first, second] = a < b ? [one, other] : [other, one];
  return withNameLock(first.folder, first.name, () => withNameLock(second.folder, second.name, action));
}

function keyOf({ folder, name }: Place): string {
  return `${folder.identity()}/${name}`;
}
