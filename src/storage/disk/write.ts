import { type BigIntStats, constants, fchmod, fchown, fstatSync, fsync } from "node:fs";
import { promisify } from "node:util";
import { type StorageEntry, StorageError, type WriteOptions } from "../../contracts/storage-adapter.ts";
import { receive } from "../content.ts";
import { checkTarget, commit } from "./commit.ts";
import { ignoreErrors, mapMissingParent, mapSystemErrors } from "./errors.ts";
import { toEntry } from "./list.ts";
import type { OpenFolder } from "./open-folder.ts";
import { withPropertiesMark } from "./properties.ts";
import { tryUnlink } from "./remove.ts";
import { BIGINT, closeFile, SMALL_BYTES, setTime } from "./system-calls.ts";
import { releaseTemporaryName, reserveTemporaryName } from "./temporary-files.ts";
import { hasTime, nextTime } from "./times.ts";
import { writeContent } from "./write-content.ts";

/** When a write is acknowledged; see `DiskStorageOptions.durability`. */
export type Durability = "fsync" | "rename";

const setMode = promisify(fchmod);
const setOwner = promisify(fchown);
const sync = promisify(fsync);
const PERMISSION_BITS = 0o777;
const GROUP_BITS = 0o070;
/** A simple write that takes less than this does not look again at what it replaces. */
const RECENT_MS = 100;

/** How a member is written. */
export interface MemberWrite {
  readonly durability: Durability;
  /** Called when the member has been replaced. */
  readonly onReplaced?: ((replaced: StorageEntry | undefined) => void) | undefined;
}

/** Writes a member: first to a temporary file next to it, which then replaces it (SECURITY 7, 8). */
export async function writeMember(
  folder: OpenFolder,
  name: string,
  content: AsyncIterable<Uint8Array>,
  options: WriteOptions,
  { durability, onReplaced }: MemberWrite,
): Promise<StorageEntry> {
  const requirePlace = folder.watchPath?.();
  const previous = await mapMissingParent(checkTarget(folder, name, options));
  const startedAt = performance.now();
  const temporary = reserveTemporaryName();
  let isCreated = false;
  let mustRemove = true;
  try {
    const descriptor = await createFile(folder, temporary, previous);
    isCreated = true;
    const written = await fillFile(descriptor, content, options, { previous, durability });
    const isQuick = hasNoDeferredWork(written, durability);
    const isRecent = performance.now() - startedAt < RECENT_MS;
    const mustFlush = durability === "fsync";
    const finished = { temporary, name, previous, written, isRecent, isQuick, mustFlush, requirePlace, onReplaced };
    const { isHardLinked, mayHaveProperties } = await mapMissingParent(commit(folder, finished, options));
    mustRemove = isHardLinked;
    if (mustFlush) await folder.sync();
    const entry = toFileEntry(name, written);
    return mayHaveProperties ? await withPropertiesMark(folder, written, entry) : entry;
  } finally {
    // Removes exactly the name that this write has created.
    const isRemoved = !mustRemove || (await tryUnlink(folder, temporary));
    releaseTemporaryName(temporary, isRemoved || !isCreated);
  }
}

/** How a file that no other caller sees yet is written. */
export interface HiddenFileOptions extends Pick<WriteOptions, "size" | "signal"> {
  /** What it will replace. A file gives it its permissions, and its owner if the process may do so. */
  readonly previous?: BigIntStats | undefined;
}

/**
 * Writes a file that no other caller sees yet: without a temporary file, and without flushing the folder.
 * A failure can leave an incomplete file.
 * @throws StorageError `already-exists`
 */
export async function writeHiddenMember(
  folder: OpenFolder,
  name: string,
  content: AsyncIterable<Uint8Array>,
  { previous, ...options }: HiddenFileOptions,
  durability: Durability,
): Promise<void> {
  const descriptor = await createFile(folder, name, previous);
  await fillFile(descriptor, content, options, { previous, durability });
}

/** Writes the content of a file that was just created, and closes it. */
async function fillFile(
  descriptor: number,
  content: AsyncIterable<Uint8Array>,
  options: WriteOptions,
  { previous, durability }: { readonly previous: BigIntStats | undefined; readonly durability: Durability },
): Promise<BigIntStats> {
  let isOpen = true;
  try {
    await writeContent(descriptor, receive(content, options), { size: options.size });
    const written = await mapSystemErrors(finishFile(descriptor, previous, durability, options.modified));
    isOpen = false;
    // Some file systems report only here that bytes could not be stored.
    await mapSystemErrors(closeFile(descriptor, { isQuick: hasNoDeferredWork(written, durability) }));
    return written;
  } finally {
    if (isOpen) await closeFile(descriptor).catch(() => {});
  }
}

/** Whether the system has nothing left to do for the bytes of a finished file, so its close and rename are quick. */
function hasNoDeferredWork({ size }: BigIntStats, durability: Durability): boolean {
  return durability === "fsync" || size <= SMALL_BYTES;
}

/** Creates a file with the permissions of the one that it will replace. @throws StorageError `parent-missing` */
export function createFile(folder: OpenFolder, name: string, previous: BigIntStats | undefined): Promise<number> {
  const { O_CREAT, O_EXCL, O_WRONLY } = constants;
  const mode = previous?.isFile() ? Number(previous.mode) & PERMISSION_BITS : 0o666;
  return mapMissingParent(folder.openFile(name, O_CREAT | O_EXCL | O_WRONLY, mode));
}

/**
 * Prepares the file for its commit: gives it a unique time, the permissions of the previous file, and its owner if the
 * process may do so. The time comes first, so that one look at the file shows all of them.
 *
 * The system counts time in steps of some milliseconds. Within one step an inode can be freed and reused, and without a
 * unique time one entity-tag would stand for two contents. A time that the file system cannot keep is ignored.
 */
export async function finishFile(
  descriptor: number,
  previous: BigIntStats | undefined,
  durability: Durability,
  modified: Date | undefined,
): Promise<BigIntStats> {
  const time = nextTime(modified);
  await setTime(descriptor, time);
  const written = fstatSync(descriptor, BIGINT);
  const isTimeMoved = modified !== undefined && !hasTime(written, time);
  if (isTimeMoved) await setTime(descriptor, nextTime());
  const isChanged = previous?.isFile() === true && (await restorePermissions(descriptor, written, previous));
  if (durability === "fsync") await sync(descriptor);
  else if (!isTimeMoved && !isChanged) return written;
  return fstatSync(descriptor, BIGINT);
}

/** Gives a file the permissions and the owner of the previous one. Returns `false` if it has them already. */
async function restorePermissions(descriptor: number, created: BigIntStats, previous: BigIntStats): Promise<boolean> {
  const isForeign = created.uid !== previous.uid || created.gid !== previous.gid;
  if (!isForeign && created.mode === previous.mode) return false;
  if (isForeign) await restoreOwner(descriptor, created, previous);
  await setMode(descriptor, toMode(descriptor, previous));
  return true;
}

/** Sets the previous owner and group if the process may do so, else only the group if the process is a member of it. */
async function restoreOwner(descriptor: number, created: BigIntStats, { uid, gid }: BigIntStats): Promise<void> {
  const codes = ["EPERM", "EINVAL", "ENOTSUP"] as const;
  const isGiven = await ignoreErrors(
    setOwner(descriptor, Number(uid), Number(gid)).then(() => true),
    ...codes,
  );
  if (isGiven !== true) await ignoreErrors(setOwner(descriptor, Number(created.uid), Number(gid)), ...codes);
}

/** Returns the previous permissions, without those of the group if the file has another group now. */
function toMode(descriptor: number, { mode, gid }: BigIntStats): number {
  const bits = Number(mode) & PERMISSION_BITS;
  return fstatSync(descriptor, BIGINT).gid === gid ? bits : bits & ~GROUP_BITS;
}

function toFileEntry(name: string, written: BigIntStats): StorageEntry {
  const entry = toEntry(name, written);
  if (entry === undefined) throw new StorageError("unavailable", "The temporary file is not a regular file.");
  return entry;
}
