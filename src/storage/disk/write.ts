import { type BigIntStats, constants, fchmod, fchown, fstatSync, fsync } from "node:fs";
import { unlink } from "node:fs/promises";
import { promisify } from "node:util";
import { type StorageEntry, StorageError, type WriteOptions } from "../../contracts/storage-adapter.ts";
import { receive } from "../content.ts";
import { checkTarget, commit } from "./commit.ts";
import { ignoreErrors, mapErrorCode, mapSystemErrors, systemCode } from "./errors.ts";
import { toEntry } from "./list.ts";
import type { OpenFolder } from "./open-folder.ts";
import { withPropertiesMark } from "./properties.ts";
import { closeFile, SMALL_BYTES, setTime } from "./system-calls.ts";
import { releaseTemporaryName, reserveTemporaryName } from "./temporary-files.ts";
import { nextTime } from "./times.ts";
import { writeContent } from "./write-content.ts";

/** When a write is acknowledged; see `DiskStorageOptions.durability`. */
export type Durability = "fsync" | "rename";

const setMode = promisify(fchmod);
const setOwner = promisify(fchown);
const sync = promisify(fsync);
const BIGINT = { bigint: true } as const;
const PERMISSION_BITS = 0o777;
const GROUP_BITS = 0o070;
/** A write of this duration sees what it replaces only once. */
const RECENT_MS = 100;

/** Writes a member: first to a temporary file next to it, which then replaces it (SECURITY 7, 8). */
export async function writeMember(
  folder: OpenFolder,
  name: string,
  content: AsyncIterable<Uint8Array>,
  options: WriteOptions,
  durability: Durability,
): Promise<StorageEntry> {
  const previous = await inParent(checkTarget(folder, name, options));
  const startedAt = performance.now();
  const temporary = reserveTemporaryName();
  let descriptor: number | undefined;
  let isCreated = false;
  let mustRemove = true;
  let isQuick = false;
  try {
    descriptor = await createFile(folder, temporary, previous);
    isCreated = true;
    await writeContent(descriptor, receive(content, options), { size: options.size });
    const time = nextTime(options.modified);
    const written = await mapSystemErrors(finishFile(descriptor, previous, durability, time));
    isQuick = durability === "fsync" || written.size <= SMALL_BYTES;
    // Some file systems report only here that bytes could not be stored.
    const closed = closeFile(descriptor, isQuick);
    descriptor = undefined;
    await mapSystemErrors(closed);
    const isRecent = performance.now() - startedAt < RECENT_MS;
    mustRemove =
      (await inParent(
        commit(
          folder,
          { temporary, name, previous, written, isRecent, isQuick, isFlushed: durability === "fsync" },
          options,
        ),
      )) === "linked";
    if (durability === "fsync") await folder.sync();
    const entry = toFileEntry(name, written);
    return previous === undefined ? entry : await withPropertiesMark(folder, written, entry);
  } finally {
    if (descriptor !== undefined) await closeFile(descriptor, isQuick).catch(() => {});
    // Removes exactly the name that this write has created.
    const isRemoved = !mustRemove || (await tryUnlink(folder, temporary));
    releaseTemporaryName(temporary, isRemoved || !isCreated);
  }
}

async function tryUnlink(folder: OpenFolder, name: string): Promise<boolean> {
  try {
    await unlink(folder.at(name));
    return true;
  } catch (error) {
    // The file was not created, or another process has removed it.
    return systemCode(error) === "ENOENT";
  }
}

/** Creates a temporary file next to the file that it replaces. @throws StorageError `parent-missing` */
export function createFile(folder: OpenFolder, name: string, previous: BigIntStats | undefined): Promise<number> {
  const { O_CREAT, O_EXCL, O_WRONLY } = constants;
  const mode = previous?.isFile() ? Number(previous.mode) & PERMISSION_BITS : 0o666;
  return inParent(folder.openFile(name, O_CREAT | O_EXCL | O_WRONLY, mode));
}

/** When a write fails with `not-found`, the missing member is the parent folder. */
function inParent<T>(step: Promise<T>): Promise<T> {
  return mapErrorCode(step, "not-found", "parent-missing");
}

/**
 * Prepares the file for its commit: gives it the permissions of the previous file, its owner if the process may do so,
 * and a unique time.
 *
 * The system counts time in steps of some milliseconds. Within one step an inode can be freed and reused, and without a
 * unique time one entity-tag would stand for two contents.
 */
export async function finishFile(
  descriptor: number,
  previous: BigIntStats | undefined,
  durability: Durability,
  time: number,
): Promise<BigIntStats> {
  if (previous?.isFile()) {
    const created = fstatSync(descriptor, BIGINT);
    const isForeign = created.uid !== previous.uid || created.gid !== previous.gid;
    if (isForeign) await restoreOwner(descriptor, created, previous);
    if (isForeign || created.mode !== previous.mode) await setMode(descriptor, toMode(descriptor, previous));
  }
  await setTime(descriptor, time);
  if (durability === "fsync") await sync(descriptor);
  return fstatSync(descriptor, BIGINT);
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
