import { type BigIntStats, constants, fsync } from "node:fs";
import { promisify } from "node:util";
import { StorageError } from "../../contracts/storage-adapter.ts";
import { createKeyedMutex } from "../../platform/keyed-mutex.ts";
import { createSharedRuns } from "../../platform/shared-runs.ts";
import { ignoreErrors, mapSystemErrors } from "./errors.ts";
import type { MemberName } from "./system-calls.ts";

/**
 * An open folder. Calls on its members affect this very folder, even if another process replaces its path, or a path
 * above it, meanwhile (SECURITY 6). `folder-by-descriptor.ts` opens it on Linux with /proc, `folder-by-path.ts`
 * elsewhere.
 */
export interface OpenFolder {
  /** Device and inode, equal for all open handles of one folder. */
  identity(): string;
  /** Path of a member for system calls that do not follow symlinks. */
  at(name: MemberName): MemberName;
  /**
   * Opens a subfolder.
   * @throws StorageError `not-found`, or `not-a-folder` for anything else, including a symlink.
   */
  enter(name: MemberName): Promise<OpenFolder>;
  /** Opens the parent folder. */
  leave(): Promise<OpenFolder>;
  /**
   * Opens a file without following a symlink and without waiting for the other end of a pipe. The caller closes the
   * descriptor.
   */
  openFile(name: string, flags: number, mode?: number): Promise<number>;
  /** Returns the stats of a member, a symlink as itself, or `undefined` if nothing has this name. */
  lookUp(name: string, options?: LookUpOptions): Promise<BigIntStats | undefined>;
  /**
   * As `lookUp`, but synchronous, for fast disks (`latency-guard.ts`). Missing on systems where a path must be
   * confirmed.
   */
  lookSync?(name: string): BigIntStats | undefined;
  /**
   * As `openFile`, but synchronous and for reading, and it throws system errors. Missing on systems where a path must
   * be confirmed.
   */
  openFileSync?(name: string): number;
  /**
   * Checks the folder's path. Call it before and after a member is used by its path. Does nothing where such paths are
   * safe.
   * @throws StorageError `not-found` if nothing is at the path any more, `unavailable` if something else is there.
   */
  confirm(): Promise<void>;
  /**
   * Notes the folder's path. The function that it returns throws `not-found` if the folder has been moved or removed
   * since. Missing on systems where `confirm` does this.
   */
  watchPath?(): () => void;
  /** Path of an open file, in any folder. Missing on systems where a path must be confirmed. */
  descriptorPath?(descriptor: number): string;
  /** Flushes the names of its members to the device. */
  sync(): Promise<void>;
  close(): void;
}

/** How a member is looked up. */
export interface LookUpOptions {
  /** The caller holds the lock of the name ({@link withNameLock}), so the call must not wait for it. Default: false. */
  readonly hasLock?: boolean;
}

// Windows lacks O_NOFOLLOW and O_NONBLOCK.
const { O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
/** A member is opened without following a symlink and without waiting for the other end of a pipe. */
export const MEMBER_FLAGS = O_NOFOLLOW | O_NONBLOCK;
/** Errors of file systems that cannot flush a folder or do not need to. */
export const NO_FOLDER_SYNC = ["EINVAL", "ENOTSUP", "EISDIR", "EPERM"];

const syncAsync = promisify(fsync);
const withLock = createKeyedMutex();
const shareFlush = createSharedRuns();

/** Runs an action under the lock of one name in one folder. The lock covers this process only. */
export function withNameLock<T>(
  folder: Pick<OpenFolder, "identity">,
  name: string,
  action: () => Promise<T>,
): Promise<T> {
  return withLock(`${folder.identity()}/${name}`, action);
}

/** Runs an action on a folder, then closes the folder. */
export async function withFolder<T>(
  opened: OpenFolder | Promise<OpenFolder>,
  action: (folder: OpenFolder) => Promise<T>,
): Promise<T> {
  const folder = await opened;
  try {
    return await action(folder);
  } finally {
    folder.close();
  }
}

/**
 * Opens the parent folder of a folder that stays open. `identity`: of the folder from which it was entered.
 * @throws StorageError `unavailable` if another process has moved it into another folder meanwhile.
 */
export async function leaveFor(folder: OpenFolder, identity: string): Promise<OpenFolder> {
  const above = await folder.leave();
  try {
    if (above.identity() === identity) return above;
  } catch (error) {
    above.close();
    throw error;
  }
  above.close();
  throw new StorageError("unavailable", "A folder was moved while its members were being used.");
}

/** Flushes a folder. Writers that come while it is flushed share the next flush: each can take milliseconds. */
export function syncFolder(identity: string, descriptor: number): Promise<void> {
  const sync = async (): Promise<void> => {
    await mapSystemErrors(ignoreErrors(syncAsync(descriptor), ...NO_FOLDER_SYNC));
  };
  return shareFlush(identity, sync);
}

/** Device and inode of a folder or file. */
export function toIdentity({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}
