import { type BigIntStats, constants, fdatasync, fstatSync, ftruncate } from "node:fs";
import { unlink } from "node:fs/promises";
import { promisify } from "node:util";
import { StorageError } from "../../../contracts/storage-adapter.ts";
import { nameOf, toPathSegments } from "../../../contracts/storage-path.ts";
import type { UploadKey } from "../../../contracts/storage-uploads.ts";
import { ignoreErrors, mapSystemErrors, undefinedIfMissing } from "../errors.ts";
import type { OpenFolder } from "../open-folder.ts";
import { closeFile } from "../system-calls.ts";
import type { DiskAccess } from "../transfers.ts";
import { lockUpload, type UploadLock, type UploadLockOptions } from "./lock.ts";
import { type DiskUpload, removeLocks, toBytesName, type UploadStates } from "./states.ts";

const flushFile = promisify(fdatasync);
const truncate = promisify(ftruncate);
const BIGINT = { bigint: true } as const;

/** An upload with its bytes, while a call has its lock. */
export interface OpenUpload {
  readonly upload: DiskUpload;
  /** The folder of the file to be. */
  readonly folder: OpenFolder;
  /** Missing if the upload is done. */
  readonly descriptor: number | undefined;
  readonly stats: BigIntStats | undefined;
}

/** Opens uploads under their locks. */
export interface DiskUploadAccess {
  /** Runs a call with the lock of an upload. @throws StorageError `not-found` if there is none. */
  withUpload<T>(
    key: UploadKey,
    work: (open: OpenUpload, lock: UploadLock) => Promise<T>,
    options?: UploadLockOptions,
  ): Promise<T>;
  /** Opens the folder of the file to be; `undefined` if it is gone. */
  openFolderOf(upload: DiskUpload): Promise<OpenFolder | undefined>;
  markDone(upload: DiskUpload): Promise<DiskUpload>;
  withoutCheck(upload: DiskUpload): Promise<DiskUpload>;
  /** Makes the bytes survive a power failure, if the storage promises that. */
  flush(descriptor: number): Promise<void>;
  truncateTo(descriptor: number, size: number): Promise<void>;
}

/** Creates the {@link DiskUploadAccess} of a disk storage. */
export function createUploadAccess(
  { tree, durability, locate }: Pick<DiskAccess, "tree" | "durability" | "locate">,
  states: UploadStates,
): DiskUploadAccess {
  async function withUpload<T>(
    key: UploadKey,
    work: (open: OpenUpload, lock: UploadLock) => Promise<T>,
    options?: UploadLockOptions,
  ): Promise<T> {
    if ((await states.read(key)) === undefined) throw new StorageError("not-found");
    const locks = await states.openLocks(key);
    try {
      const lock = await lockUpload(locks, options);
      try {
        const open = await openUpload(key);
        try {
          return await work(open, lock);
        } finally {
          if (open.descriptor !== undefined) await closeFile(open.descriptor, true);
          open.folder.close();
        }
      } finally {
        await lock.release();
        if ((await states.read(key).catch(() => undefined)) === undefined) await removeLocks(locks, key);
      }
    } finally {
      locks.close();
    }
  }

  /** Opens an upload. Finishes what a process that has ended could not: a cut checksum, or the note of a completion. */
  async function openUpload(key: UploadKey): Promise<OpenUpload> {
    const upload = await states.read(key);
    if (upload === undefined) throw new StorageError("not-found");
    const folder = await openFolderOf(upload);
    if (folder === undefined) return forget(upload);
    try {
      if (upload.isDone === true) return { upload, folder, descriptor: undefined, stats: undefined };
      const descriptor = await folder.openFile(toBytesName(key), constants.O_RDWR).catch(undefinedIfMissing);
      const stats = descriptor === undefined ? undefined : fstatSync(descriptor, BIGINT);
      if (await isAtTarget(upload, folder, stats)) {
        if (descriptor !== undefined) await closeFile(descriptor, true);
        await tryUnlink(folder, toBytesName(key));
        return { upload: await markDone(upload), folder, descriptor: undefined, stats: undefined };
      }
      if (descriptor === undefined) return await forget(upload);
      const { checkedTo } = upload;
      if (checkedTo === undefined) return { upload, folder, descriptor, stats };
      await truncateTo(descriptor, checkedTo);
      return { upload: await withoutCheck(upload), folder, descriptor, stats: fstatSync(descriptor, BIGINT) };
    } catch (error) {
      folder.close();
      throw error;
    }
  }

  async function openFolderOf({ path }: DiskUpload): Promise<OpenFolder | undefined> {
    return tree.open(await locate(toPathSegments(path).slice(0, -1))).catch(undefinedIfMissing);
  }

  /** Removes the state of an upload whose bytes are gone with its folder. */
  async function forget({ key }: DiskUpload): Promise<never> {
    await states.remove(key);
    throw new StorageError("not-found", "The bytes of the upload are gone.");
  }

  async function markDone(upload: DiskUpload): Promise<DiskUpload> {
    const done = { ...upload, isDone: true } as const;
    await states.write(done);
    return done;
  }

  async function withoutCheck({ checkedTo: _, ...upload }: DiskUpload): Promise<DiskUpload> {
    await states.write(upload);
    return upload;
  }

  async function truncateTo(descriptor: number, size: number): Promise<void> {
    await mapSystemErrors(truncate(descriptor, size));
    await flush(descriptor);
  }

  async function flush(descriptor: number): Promise<void> {
    if (durability === "fsync") await mapSystemErrors(flushFile(descriptor));
  }

  return { withUpload, openFolderOf, markDone, withoutCheck, flush, truncateTo };
}

/** Whether the file that an upload was to become is there already, because a process ended before it noted that. */
async function isAtTarget(
  { target }: DiskUpload,
  folder: OpenFolder,
  bytes: BigIntStats | undefined,
): Promise<boolean> {
  if (target === undefined) return false;
  const found = await folder.lookUp(nameOf(target.path), false);
  if (found === undefined || String(found.ino) !== target.inode || String(found.mtimeNs) !== target.time) return false;
  return bytes === undefined || bytes.ino === found.ino;
}

/** Removes a member, if it is there. A failure leaves it for the clean-up. */
export async function tryUnlink(folder: OpenFolder, name: string): Promise<void> {
  await ignoreErrors(unlink(folder.at(name)), "ENOENT").catch(() => undefined);
}
