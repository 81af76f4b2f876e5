import { type BigIntStats, constants, fdatasync, fstatSync, ftruncate } from "node:fs";
import { promisify } from "node:util";
import { StorageError } from "../../../contracts/storage-adapter.ts";
import { nameOf, toPathSegments } from "../../../contracts/storage-path.ts";
import type { UploadKey } from "../../../contracts/storage-uploads.ts";
import { createBoundedMap } from "../../../platform/bounded-map.ts";
import type { DiskAccess } from "../copy-and-move.ts";
import { mapSystemErrors, undefinedIfMissing } from "../errors.ts";
import { type OpenFolder, withFolder } from "../open-folder.ts";
import { tryUnlink } from "../remove.ts";
import { BIGINT, closeFile } from "../system-calls.ts";
import { lockNewUpload, lockUpload, type UploadLock, type UploadLockOptions } from "./lock.ts";
import { type DiskUpload, readStateOf, removeUnneededLocks, toBytesName, type UploadStates } from "./states.ts";

/** The number of uploads whose last flush is remembered. */
const MAX_FLUSHED = 1000;

const flushFile = promisify(fdatasync);
const truncate = promisify(ftruncate);

/** An upload, while a call has its lock. */
export interface OpenUpload {
  readonly upload: DiskUpload;
  /** `undefined` if the upload is done. */
  readonly bytes: OpenBytes | undefined;
}

/** The open file with the bytes of an upload. */
export interface OpenBytes {
  /** The folder of the file to be. */
  readonly folder: OpenFolder;
  readonly descriptor: number;
  readonly stats: BigIntStats;
}

/** Options of {@link DiskUploadAccess.withUpload}. */
export interface WithUploadOptions<T> extends UploadLockOptions {
  /** Called if the bytes are gone with their folder. Default: the call rejects with `not-found`. */
  readonly whenLost?: (upload: DiskUpload) => Promise<T>;
}

/** Opens uploads under their locks. */
export interface DiskUploadAccess {
  /** Runs a call with the lock of an upload. @throws StorageError `not-found` if there is none. */
  withUpload<T>(
    key: UploadKey,
    work: (open: OpenUpload, lock: UploadLock) => Promise<T>,
    options?: WithUploadOptions<T>,
  ): Promise<T>;
  /** Runs the creation of an upload with its lock, so that no other call sees the state without the bytes. */
  withNewUpload<T>(key: UploadKey, work: () => Promise<T>): Promise<T>;
  /** Opens the folder of the file to be; `undefined` if it no longer exists. */
  openFolderOf(upload: DiskUpload): Promise<OpenFolder | undefined>;
  markDone(upload: DiskUpload): Promise<DiskUpload>;
  withoutCheck(upload: DiskUpload): Promise<DiskUpload>;
  /** Makes the bytes survive a power failure, if the storage promises that. */
  flush(descriptor: number): Promise<void>;
  /**
   * As `flush`, and returns the stats of the bytes then. Does nothing where this process has made the same bytes of the
   * upload survive before: even without anything to do, a device may take milliseconds.
   */
  flushOnce(key: UploadKey, descriptor: number): Promise<BigIntStats>;
  truncateTo(descriptor: number, size: number): Promise<void>;
}

/** Creates the {@link DiskUploadAccess} of a disk storage. */
export function createUploadAccess(
  { tree, durability, locate }: Pick<DiskAccess, "tree" | "durability" | "locate">,
  states: UploadStates,
): DiskUploadAccess {
  /** Which bytes of an upload this process has flushed last. */
  const flushed = createBoundedMap<string, string>(MAX_FLUSHED);

  async function withUpload<T>(
    key: UploadKey,
    work: (open: OpenUpload, lock: UploadLock) => Promise<T>,
    { whenLost, ...options }: WithUploadOptions<T> = {},
  ): Promise<T> {
    return withFolder(states.openLocks(key), async (locks) => {
      try {
        const lock = await lockUpload(locks, options);
        const run = async () => runOpen(await readStateOf(locks, key), (open) => work(open, lock), whenLost);
        return await run().finally(lock.release);
      } finally {
        await removeUnneededLocks(locks, key);
      }
    });
  }

  /** Runs a call that has the lock. */
  async function runOpen<T>(
    upload: DiskUpload | undefined,
    work: (open: OpenUpload) => Promise<T>,
    whenLost: WithUploadOptions<T>["whenLost"],
  ): Promise<T> {
    if (upload === undefined) throw new StorageError("not-found");
    const open = await openUpload(upload);
    if (open === undefined) {
      if (whenLost === undefined) throw new StorageError("not-found", "The bytes of the upload are gone.");
      return whenLost(upload);
    }
    try {
      return await work(open);
    } finally {
      if (open.bytes !== undefined) await closeBytes(open.bytes);
    }
  }

  async function withNewUpload<T>(key: UploadKey, work: () => Promise<T>): Promise<T> {
    return withFolder(states.openLocks(key, { isNew: true }), async (locks) => {
      try {
        const release = await lockNewUpload(locks);
        return await work().finally(release);
      } catch (error) {
        await removeUnneededLocks(locks, key);
        throw error;
      }
    });
  }

  /**
   * Opens an upload; `undefined` if its bytes are gone. Finishes what a process that has ended could not: a cut
   * checksum, or the note of a completion.
   */
  async function openUpload(upload: DiskUpload): Promise<OpenUpload | undefined> {
    if (upload.isDone === true) return { upload, bytes: undefined };
    const folder = await openFolderOf(upload);
    if (folder === undefined) return undefined;
    let open: OpenUpload | undefined;
    try {
      open = await openInFolder(upload, folder);
    } finally {
      if (open?.bytes === undefined) folder.close();
    }
    return open;
  }

  async function openInFolder(upload: DiskUpload, folder: OpenFolder): Promise<OpenUpload | undefined> {
    const name = toBytesName(upload.key);
    const descriptor = await folder.openFile(name, constants.O_RDWR).catch(undefinedIfMissing);
    let isHeld = false;
    try {
      const open = await openBytes(upload, folder, descriptor);
      isHeld = open?.bytes !== undefined;
      return open;
    } finally {
      if (descriptor !== undefined && !isHeld) await closeFile(descriptor, { isQuick: true });
    }
  }

  /** As `openUpload`, with the open bytes; `undefined` if there are none. */
  async function openBytes(
    upload: DiskUpload,
    folder: OpenFolder,
    descriptor: number | undefined,
  ): Promise<OpenUpload | undefined> {
    const stats = descriptor === undefined ? undefined : fstatSync(descriptor, BIGINT);
    if (await isAtTarget(upload, folder, stats)) {
      await tryUnlink(folder, toBytesName(upload.key));
      return { upload: await markDone(upload), bytes: undefined };
    }
    if (descriptor === undefined || stats === undefined) return undefined;
    const { checkedTo } = upload;
    if (checkedTo === undefined) return { upload, bytes: { folder, descriptor, stats } };
    await truncateTo(descriptor, checkedTo);
    const bytes = { folder, descriptor, stats: fstatSync(descriptor, BIGINT) };
    return { upload: await withoutCheck(upload), bytes };
  }

  async function openFolderOf({ path }: DiskUpload): Promise<OpenFolder | undefined> {
    return tree.open(await locate(toPathSegments(path).slice(0, -1))).catch(undefinedIfMissing);
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

  async function flushOnce(key: UploadKey, descriptor: number): Promise<BigIntStats> {
    const name = toBytesName(key);
    const stats = fstatSync(descriptor, BIGINT);
    if (flushed.get(name) === toVersion(stats)) return stats;
    await flush(descriptor);
    flushed.set(name, toVersion(stats));
    return stats;
  }

  return { withUpload, withNewUpload, openFolderOf, markDone, withoutCheck, flush, flushOnce, truncateTo };
}

/** Differs after a write, whichever process made it. */
function toVersion({ ino, size, mtimeNs }: BigIntStats): string {
  return `${ino} ${size} ${mtimeNs}`;
}

async function closeBytes({ folder, descriptor }: OpenBytes): Promise<void> {
  // If the upload was discarded, this frees its bytes.
  await closeFile(descriptor).finally(folder.close);
}

/** Whether the file that an upload was to become is there already, because a process ended before it noted that. */
async function isAtTarget(
  { target }: DiskUpload,
  folder: OpenFolder,
  bytes: BigIntStats | undefined,
): Promise<boolean> {
  if (target === undefined) return false;
  const found = await folder.lookUp(nameOf(target.path));
  if (found === undefined || String(found.ino) !== target.inode || String(found.mtimeNs) !== target.time) return false;
  return bytes === undefined || bytes.ino === found.ino;
}
