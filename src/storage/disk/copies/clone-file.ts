import { type BigIntStats, constants, fchmod, fstatSync } from "node:fs";
import { copyFile, link, mkdir, rmdir } from "node:fs/promises";
import { promisify } from "node:util";
import type { TransferOptions } from "../../../contracts/storage-adapter.ts";
import { createBoundedMap } from "../../../platform/bounded-map.ts";
import { checkSource } from "../../conditions.ts";
import { NO_HARD_LINKS } from "../commit.ts";
import { ignoreErrors, mapMissingParent, mapSystemErrors, systemCode } from "../errors.ts";
import { toEntry } from "../list.ts";
import type { Place } from "../moves/steps.ts";
import type { OpenFolder } from "../open-folder.ts";
import { tryUnlink } from "../remove.ts";
import { BIGINT, closeFile, SMALL_BYTES } from "../system-calls.ts";
import { releaseTemporaryName, reserveTemporaryName } from "../temporary-files.ts";
import { createFile, type Durability, finishFile } from "../write.ts";

const setMode = promisify(fchmod);
const MODE_BITS = 0o7777;
const OTHERS_BITS = 0o077;
const NAME = "clone";
// Bun and Deno have a `copyFile` of their own, which may copy the bytes instead of failing.
const isOtherRuntime = "bun" in process.versions || "deno" in process.versions;
/** Errors of file systems whose files cannot share blocks, and of two file systems. */
const NO_CLONES: readonly string[] = ["ENOTSUP", "EOPNOTSUPP", "ENOTTY", "ENOSYS", "EXDEV"];
/** How long files of two devices are not cloned after that. Another file system can get the number of a device. */
const REFUSED_MS = 60_000;
/** Until when files are not cloned, by the numbers of the two devices. */
const refusedUntil = createBoundedMap<string, number>(1000);

/** How a file is cloned. */
export interface CloneOptions extends Pick<TransferOptions, "kind" | "ifMatch" | "signal"> {
  readonly durability: Durability;
  /** What the copy will replace. A file gives it its permissions, and its owner if the process may do so. */
  readonly previous?: BigIntStats | undefined;
}

/**
 * Makes a new file that shares the blocks of an open file, if the file system can do that (a reflink). A later write to
 * one of them leaves the other as it is. The caller keeps the descriptor.
 *
 * Returns `false`, and leaves nothing behind, if the file is small, or if it cannot be cloned.
 * @throws StorageError `not-found`, `precondition-failed`, `already-exists`
 */
export async function cloneFile(descriptor: number, to: Place, options: CloneOptions): Promise<boolean> {
  const { folder } = to;
  const path = folder.descriptorPath?.(descriptor);
  if (path === undefined || isOtherRuntime) return false;
  const stats = fstatSync(descriptor, BIGINT);
  const entry = toEntry(to.name, stats);
  if (entry?.kind !== "file" || entry.size <= SMALL_BYTES) return false;
  const devices = `${stats.dev} ${folder.identity().split(":", 1)}`;
  if (performance.now() < (refusedUntil.get(devices) ?? 0)) return false;
  checkSource(entry, options);
  options.signal?.throwIfAborted();
  const temporary = reserveTemporaryName();
  let isRemoved = true;
  try {
    const room = await createPrivateFolder(folder, temporary, devices);
    if (room === undefined) return false;
    try {
      const clone = await createClone(room, { descriptor, path, stats, devices });
      return clone !== undefined && (await placeClone(clone, room, to, options));
    } finally {
      await tryUnlink(room, NAME);
      room.close();
    }
  } finally {
    isRemoved = await tryRemoveEmpty(folder, temporary);
    releaseTemporaryName(temporary, isRemoved);
  }
}

/**
 * Creates a folder that no other user can enter, and opens it. The system call that clones gives the new file the
 * permissions of the source, with those to run as the owner. In another folder, other users could use them until they
 * are taken away.
 */
async function createPrivateFolder(folder: OpenFolder, name: string, devices: string): Promise<OpenFolder | undefined> {
  let room: OpenFolder | undefined;
  try {
    await mkdir(folder.at(name), { mode: 0o700 });
    room = await folder.enter(name);
    const stats = await room.lookUp(".");
    // Another user may have put another folder there, and some file systems have no permissions.
    const isOwn = stats !== undefined && Number(stats.uid) === process.geteuid?.();
    if (isOwn && (Number(stats.mode) & OTHERS_BITS) === 0) return room;
    noteRefusal(devices);
  } catch {
    // The copy reads the file, and then reports what is wrong.
  }
  room?.close();
  return undefined;
}

/** A file that is to be cloned. */
interface CloneSource {
  readonly descriptor: number;
  readonly path: string;
  readonly stats: BigIntStats;
  readonly devices: string;
}

/** Creates a clone with the permissions of any new file. Returns its descriptor. */
async function createClone(
  room: OpenFolder,
  { descriptor, path, stats, devices }: CloneSource,
): Promise<number | undefined> {
  let clone: number | undefined;
  try {
    // It gets those of the file that it replaces at the end: they may forbid to write.
    clone = await createFile(room, NAME, undefined);
    const created = fstatSync(clone, BIGINT);
    // With the path of the descriptor, a failure cannot remove the name. Without "force", Node would copy the bytes in
    // one call that cannot be aborted.
    await copyFile(path, room.descriptorPath?.(clone) ?? "", constants.COPYFILE_FICLONE_FORCE);
    await setMode(clone, Number(created.mode) & MODE_BITS);
    const now = fstatSync(descriptor, BIGINT);
    // Another program may have written to the file after it was checked.
    if (now.mtimeNs === stats.mtimeNs && now.size === stats.size) return clone;
  } catch (error) {
    if (NO_CLONES.includes(systemCode(error) ?? "")) noteRefusal(devices);
  }
  if (clone !== undefined) await closeFile(clone).catch(() => undefined);
  return undefined;
}

/**
 * Prepares a clone for its commit, and gives it its name by a hard link, which never replaces anything. Returns `false`
 * if the file system has no hard links.
 */
async function placeClone(
  clone: number,
  room: OpenFolder,
  { folder, name }: Place,
  { previous, durability, signal }: CloneOptions,
): Promise<boolean> {
  let isOpen = true;
  try {
    await mapSystemErrors(finishFile(clone, previous, durability, undefined));
    isOpen = false;
    await mapSystemErrors(closeFile(clone, { isQuick: true }));
  } finally {
    if (isOpen) await closeFile(clone).catch(() => undefined);
  }
  signal?.throwIfAborted();
  const linked = link(room.at(NAME), folder.at(name)).then(() => true);
  return (await mapMissingParent(mapSystemErrors(ignoreErrors(linked, ...NO_HARD_LINKS)))) ?? false;
}

function noteRefusal(devices: string): void {
  refusedUntil.set(devices, performance.now() + REFUSED_MS);
}

/** Removes an empty folder. Returns whether there is none now. Never rejects; the clean-up removes what is left. */
function tryRemoveEmpty(folder: OpenFolder, name: string): Promise<boolean> {
  return rmdir(folder.at(name)).then(
    () => true,
    (error: unknown) => systemCode(error) === "ENOENT",
  );
}
