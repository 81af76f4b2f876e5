import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, unlink } from "node:fs/promises";
import { type StorageEntry, StorageError, type WriteOptions } from "../contracts/storage-adapter.ts";
import { receive } from "./content.ts";
import { renamed, translated, unless } from "./disk-errors.ts";
import { checkPlace, exchange } from "./disk-exchange.ts";
import type { OpenFolder } from "./disk-folder.ts";
import { toEntry } from "./disk-members.ts";
import { claimTemporaryName, releaseTemporaryName } from "./disk-temporary.ts";

/** When a write counts as done: see `DiskStorageOptions.durability`. */
export type Durability = "fsync" | "rename";

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
  const former = await inParent(checkPlace(folder, name, options));
  const temporary = claimTemporaryName();
  let handle: FileHandle | undefined;
  let isLeft = true;
  try {
    handle = await createFile(folder, temporary, former);
    for await (const chunk of receive(content, options)) await translated(writeWhole(handle, chunk));
    const written = await translated(finish(handle, former, durability));
    isLeft = (await inParent(exchange(folder, temporary, name, options))) === "linked";
    if (durability === "fsync") await folder.sync();
    return toFileEntry(name, written);
  } finally {
    await handle?.close().catch(() => {});
    // Exactly this name, which this write alone has made.
    if (isLeft) await unlink(folder.at(temporary)).catch(() => {});
    releaseTemporaryName(temporary);
  }
}

function createFile(folder: OpenFolder, name: string, former: BigIntStats | undefined): Promise<FileHandle> {
  const { O_CREAT, O_EXCL, O_WRONLY } = constants;
  const mode = former?.isFile() ? Number(former.mode) & PERMISSION_BITS : 0o666;
  return inParent(folder.openFile(name, O_CREAT | O_EXCL | O_WRONLY, mode));
}

/** What is missing where something is written is the folder to write it into. */
function inParent<T>(step: Promise<T>): Promise<T> {
  return renamed(step, "not-found", "parent-missing");
}

async function writeWhole(handle: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let offset = 0; offset < chunk.byteLength; ) {
    const { bytesWritten } = await handle.write(chunk, offset, chunk.byteLength - offset);
    if (bytesWritten === 0) throw new StorageError("unavailable", "The disk took no more bytes.");
    offset += bytesWritten;
  }
}

/**
 * Gives the file the former one's permissions, its owner where the process may, and a time of its own: the system
 * counts time in steps of some milliseconds, in which an inode can be freed and taken again, and one entity-tag
 * would stand for two contents.
 */
async function finish(
  handle: FileHandle,
  former: BigIntStats | undefined,
  durability: Durability,
): Promise<BigIntStats> {
  if (former?.isFile()) {
    const made = await handle.stat({ bigint: true });
    const isForeign = made.uid !== former.uid || made.gid !== former.gid;
    if (isForeign) await giveBack(handle, made, former);
    if (isForeign || made.mode !== former.mode) await handle.chmod(await toMode(handle, former));
  }
  lastWritten = Math.max(lastWritten + 1, Date.now() * 1000);
  await handle.utimes(lastWritten / 1e6, lastWritten / 1e6);
  if (durability === "fsync") await handle.sync();
  return handle.stat({ bigint: true });
}

/** The former owner and group where the process may give them; else the group at least, if the process is in it. */
async function giveBack(handle: FileHandle, made: BigIntStats, { uid, gid }: BigIntStats): Promise<void> {
  const codes = ["EPERM", "EINVAL", "ENOTSUP"] as const;
  const isGiven = await unless(
    handle.chown(Number(uid), Number(gid)).then(() => true),
    ...codes,
  );
  if (isGiven !== true) await unless(handle.chown(Number(made.uid), Number(gid)), ...codes);
}

/** The former permissions, but for those of a group that it is not any more. */
async function toMode(handle: FileHandle, { mode, gid }: BigIntStats): Promise<number> {
  const bits = Number(mode) & PERMISSION_BITS;
  return (await handle.stat({ bigint: true })).gid === gid ? bits : bits & ~GROUP_BITS;
}

function toFileEntry(name: string, written: BigIntStats): StorageEntry {
  const entry = toEntry(name, written);
  if (entry === undefined) throw new StorageError("unavailable", "The temporary file is no file.");
  return entry;
}
