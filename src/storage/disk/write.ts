import { type BigIntStats, constants, fchmod, fchown, fstatSync, fsync } from "node:fs";
import { unlink } from "node:fs/promises";
import { promisify } from "node:util";
import { type StorageEntry, StorageError, type WriteOptions } from "../../contracts/storage-adapter.ts";
import { receive } from "../content.ts";
import { checkTarget, exchange } from "./commit.ts";
import { ignoreErrors, mapErrorCode, mapSystemErrors, systemCode } from "./errors.ts";
import { toEntry } from "./list.ts";
import type { OpenFolder } from "./open-folder.ts";
import { closeFile, SMALL_BYTES, setTime } from "./system-calls.ts";
import { createTemporaryFile, releaseTemporaryName } from "./temporary-files.ts";
import { fillFile } from "./write-content.ts";

/** When a write counts as done: see `DiskStorageOptions.durability`. */
export type Durability = "fsync" | "rename";

const setMode = promisify(fchmod);
const setOwner = promisify(fchown);
const sync = promisify(fsync);
const BIGINT = { bigint: true } as const;
const PERMISSION_BITS = 0o777;
const GROUP_BITS = 0o070;
/** Microseconds since 1970 given to the file written last. */
let lastWritten = 0;

/** Writes a member: to a temporary file beside it, which takes its place when it is whole (SECURITY 7, 8). */
export async function writeMember(
  folder: OpenFolder,
  name: string,
  content: AsyncIterable<Uint8Array>,
  options: WriteOptions,
  durability: Durability,
): Promise<StorageEntry> {
  const previous = await inParent(checkTarget(folder, name, options));
  const temporary = createTemporaryFile();
  let descriptor: number | undefined;
  let isMade = false;
  let isLeft = true;
  let isSettled = false;
  try {
    descriptor = await createFile(folder, temporary, previous);
    isMade = true;
    await fillFile(descriptor, receive(content, options), options.size);
    const written = await mapSystemErrors(finish(descriptor, previous, durability));
    isSettled = durability === "fsync" || written.size <= SMALL_BYTES;
    // Some file systems tell of bytes that could not be kept no sooner than here.
    const closed = closeFile(descriptor, isSettled);
    descriptor = undefined;
    await mapSystemErrors(closed);
    isLeft = (await inParent(exchange(folder, temporary, name, options, isSettled))) === "linked";
    if (durability === "fsync") await folder.sync();
    return toFileEntry(name, written);
  } finally {
    if (descriptor !== undefined) await closeFile(descriptor, isSettled).catch(() => {});
    // Exactly this name, which this write alone has made.
    const isRemoved = !isLeft || (await isUnlinked(folder, temporary));
    releaseTemporaryName(temporary, isRemoved || !isMade);
  }
}

async function isUnlinked(folder: OpenFolder, name: string): Promise<boolean> {
  try {
    await unlink(folder.at(name));
    return true;
  } catch (error) {
    // Nothing was made, or somebody else was faster.
    return systemCode(error) === "ENOENT";
  }
}

function createFile(folder: OpenFolder, name: string, previous: BigIntStats | undefined): Promise<number> {
  const { O_CREAT, O_EXCL, O_WRONLY } = constants;
  const mode = previous?.isFile() ? Number(previous.mode) & PERMISSION_BITS : 0o666;
  return inParent(folder.openFile(name, O_CREAT | O_EXCL | O_WRONLY, mode));
}

/** What is missing where something is written is the folder to write it into. */
function inParent<T>(step: Promise<T>): Promise<T> {
  return mapErrorCode(step, "not-found", "parent-missing");
}

/**
 * Gives the file the former one's permissions, its owner where the process may, and a time of its own: the system
 * counts time in steps of some milliseconds, in which an inode can be freed and taken again, and one entity-tag
 * would stand for two contents.
 */
async function finish(
  descriptor: number,
  previous: BigIntStats | undefined,
  durability: Durability,
): Promise<BigIntStats> {
  if (previous?.isFile()) {
    const made = fstatSync(descriptor, BIGINT);
    const isForeign = made.uid !== previous.uid || made.gid !== previous.gid;
    if (isForeign) await giveBack(descriptor, made, previous);
    if (isForeign || made.mode !== previous.mode) await setMode(descriptor, toMode(descriptor, previous));
  }
  lastWritten = Math.max(lastWritten + 1, Date.now() * 1000);
  await setTime(descriptor, lastWritten / 1e6);
  if (durability === "fsync") await sync(descriptor);
  return fstatSync(descriptor, BIGINT);
}

/** The former owner and group where the process may give them; else the group at least, if the process is in it. */
async function giveBack(descriptor: number, made: BigIntStats, { uid, gid }: BigIntStats): Promise<void> {
  const codes = ["EPERM", "EINVAL", "ENOTSUP"] as const;
  const isGiven = await ignoreErrors(
    setOwner(descriptor, Number(uid), Number(gid)).then(() => true),
    ...codes,
  );
  if (isGiven !== true) await ignoreErrors(setOwner(descriptor, Number(made.uid), Number(gid)), ...codes);
}

/** The former permissions, but for those of a group that it is not any more. */
function toMode(descriptor: number, { mode, gid }: BigIntStats): number {
  const bits = Number(mode) & PERMISSION_BITS;
  return fstatSync(descriptor, BIGINT).gid === gid ? bits : bits & ~GROUP_BITS;
}

function toFileEntry(name: string, written: BigIntStats): StorageEntry {
  const entry = toEntry(name, written);
  if (entry === undefined) throw new StorageError("unavailable", "The temporary file is no file.");
  return entry;
}
