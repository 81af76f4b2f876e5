import { type BigIntStats, constants, existsSync, fstat, fstatSync, fsync, openSync, readlinkSync } from "node:fs";
import { lstat, realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { isStorageError, StorageError } from "../../contracts/storage-adapter.ts";
import { createKeyedMutex } from "../../platform/keyed-mutex.ts";
import { createSharedRuns } from "../../platform/shared-runs.ts";
import { ignoreErrors, mapErrorCode, mapSystemErrors, mapSystemErrorsSync } from "./errors.ts";
import { lookAt, lookSync, type MemberName, openDescriptor, release } from "./system-calls.ts";

/**
 * An open folder. Calls on its members affect this very folder, even if another process replaces its path, or a path
 * above it, meanwhile (SECURITY 6).
 */
export interface OpenFolder {
  /** Device and inode, equal for all open handles of one folder. */
  identity(): string;
  /** Path of a member for system calls that do not follow symlinks. */
  at(name: MemberName): MemberName;
  /**
   * Opens a subfolder.
   * @throws StorageError `not-found`, or `not-a-folder` for anything else, including a link.
   */
  enter(name: MemberName): Promise<OpenFolder>;
  /** Opens the parent folder. */
  leave(): Promise<OpenFolder>;
  /**
   * Opens a file without following a symlink and without waiting for the other end of a pipe. The caller closes the
   * descriptor.
   */
  openFile(name: string, flags: number, mode?: number): Promise<number>;
  /**
   * Returns the stats of a member, a link as a link, or `undefined` if nothing has this name. `hasLock`: the caller
   * holds the lock of the name ({@link withNameLock}), so this call must not wait for it.
   */
  lookUp(name: string, hasLock: boolean): Promise<BigIntStats | undefined>;
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
  /** Flushes the names of its members to the device. */
  sync(): Promise<void>;
  close(): void;
}

// Windows lacks O_DIRECTORY, O_NOFOLLOW and O_NONBLOCK.
const { O_RDONLY, O_DIRECTORY = 0, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
const FOLDER = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
const statAsync = promisify(fstat);
const syncAsync = promisify(fsync);
const BIGINT = { bigint: true } as const;
/**
 * How often a replaced member is looked up or opened again. From the second attempt on, writers of this process wait.
 */
const MAX_ATTEMPTS = 20;
/**
 * Where `/proc/self/fd` is missing, a member is used only if this many checks in a row find the same member and the
 * same folder. `WARY_CONFIRMATIONS` applies for `WARY_MS` milliseconds after something else was at the path of an open
 * folder, which may be an attack.
 */
const CONFIRMATIONS = 3;
const WARY_CONFIRMATIONS = 12;
const WARY_MS = 60_000;
let waryUntil = Number.NEGATIVE_INFINITY;
/** Errors of file systems that cannot flush a folder or do not need to. */
const NO_FOLDER_SYNC = ["EINVAL", "ENOTSUP", "EISDIR", "EPERM"];

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

/**
 * Whether members can be reached through a folder's descriptor: on Linux with /proc mounted. Deno throws if the process
 * lacks permissions.
 */
export function hasDescriptorPaths(): boolean {
  try {
    return process.platform === "linux" && existsSync("/proc/self/fd");
  } catch {
    return false;
  }
}

/** Opens a folder by descriptor. Members are reached as `/proc/self/fd/<descriptor>/<name>`. */
export async function openByDescriptor(path: MemberName): Promise<OpenFolder> {
  return toFolder(await openFolderAt(path));
}

/**
 * Opens a folder at a path of several segments with one call. Returns `undefined` if a symlink is on the way, or on any
 * failure.
 *
 * This is safe because opening a folder has no effects, and the descriptor's own path is checked after the opening.
 * Without `realPath` there is no check: then only the last segment can be a symlink, and O_NOFOLLOW does not follow it.
 */
export async function openInOneCall(path: string, realPath: string | undefined): Promise<OpenFolder | undefined> {
  try {
    return toFolderAt(await openFolderAt(path), realPath);
  } catch {
    // The walk by single segments finds out why.
    return undefined;
  }
}

/** As {@link openInOneCall}, but synchronous, for fast disks. */
export function openInOneCallSync(path: string, realPath: string | undefined): OpenFolder | undefined {
  try {
    return toFolderAt(openSync(path, FOLDER), realPath);
  } catch {
    return undefined;
  }
}

/** Returns the folder of a descriptor. If the descriptor leads to another folder, closes it and returns `undefined`. */
function toFolderAt(descriptor: number, realPath: string | undefined): OpenFolder | undefined {
  if (realPath === undefined) return toFolder(descriptor);
  try {
    if (readlinkSync(toPath(descriptor)) === realPath) return toFolder(descriptor);
  } catch {
    // Treated as another folder.
  }
  release(descriptor);
  return undefined;
}

function openFolderAt(path: MemberName): Promise<number> {
  return mapSystemErrors(openDescriptor(path, FOLDER), { ELOOP: "not-a-folder" });
}

/** Flushes a folder. Writers that come while it is flushed share the next flush: each can take milliseconds. */
function syncFolder(identity: string, descriptor: number): Promise<void> {
  const sync = async (): Promise<void> => {
    await mapSystemErrors(ignoreErrors(syncAsync(descriptor), ...NO_FOLDER_SYNC));
  };
  return shareFlush(identity, sync);
}

function toPath(descriptor: number): string {
  return `/proc/self/fd/${descriptor}`;
}

function toFolder(descriptor: number): OpenFolder {
  const place = toPath(descriptor);

  function at(name: MemberName): MemberName {
    return typeof name === "string" ? `${place}/${name}` : Buffer.concat([Buffer.from(`${place}/`), name]);
  }

  const identity = (): string => toIdentity(mapSystemErrorsSync(() => fstatSync(descriptor, BIGINT)));

  return {
    identity,
    at,
    enter: (name) => openByDescriptor(at(name)),
    leave: () => openByDescriptor(at("..")),
    openFile: (name, flags, mode) => mapSystemErrors(openDescriptor(at(name), flags | O_NOFOLLOW | O_NONBLOCK, mode)),
    lookUp: (name) => mapSystemErrors(lookAt(at(name))),
    lookSync: (name) => lookSync(at(name)),
    openFileSync: (name) => openSync(at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK),
    confirm: async () => {},
    sync: async () => syncFolder(identity(), descriptor),
    close: () => release(descriptor),
  };
}

/**
 * Opens a folder by its real path, for systems without descriptor paths. `confirm` compares path and inode with those
 * at the opening. A name whose letters differ from the stored name, for example in case, is not found.
 */
export async function openByPath(path: string): Promise<OpenFolder> {
  const identity = await identify(path);

  function at(name: MemberName): string {
    return join(path, name.toString());
  }

  async function confirm(): Promise<void> {
    const found = await mapErrorCode(identify(path), "not-a-folder", "unavailable").catch((error: unknown) => {
      if (isStorageError(error) && error.code === "unavailable") waryUntil = performance.now() + WARY_MS;
      throw error;
    });
    if (found === identity) return;
    waryUntil = performance.now() + WARY_MS;
    throw new StorageError("unavailable", `Another folder is at ${path}.`);
  }

  /** Runs attempts until one result is not `"replaced"`, which means that the member changed during the attempt. */
  async function attempts<T>(name: string, attempt: () => Promise<T | "replaced">, hasLock: boolean): Promise<T> {
    const isFree = (count: number): boolean => hasLock || count === 0;
    for (let count = 0; count < MAX_ATTEMPTS; count += 1) {
      const result = await (isFree(count) ? attempt() : withNameLock({ identity: () => identity }, name, attempt));
      if (result !== "replaced") return result;
    }
    throw new StorageError("unavailable", `${at(name)} keeps being replaced.`);
  }

  /** Returns stats only if all confirmations saw the same member. */
  async function lookUp(name: string): Promise<BigIntStats | undefined | "replaced"> {
    await confirm();
    const found = await mapSystemErrors(lookAt(at(name)));
    return (await isStillAt(found && toIdentity(found), name)) ? found : "replaced";
  }

  async function openMember(name: string, flags: number, mode?: number): Promise<number | "replaced"> {
    await confirm();
    const descriptor = await mapSystemErrors(openDescriptor(at(name), flags | O_NOFOLLOW | O_NONBLOCK, mode));
    if (await isOpenedAt(descriptor, name).catch(() => false)) return descriptor;
    release(descriptor);
    const found = await lookUp(name);
    if (found !== "replaced" && found?.isSymbolicLink())
      throw new StorageError("not-found", `${at(name)} is a symbolic link.`);
    return "replaced";
  }

  /** Whether a descriptor belongs to the member in this folder, and not to something that a symlink led to. */
  async function isOpenedAt(descriptor: number, name: string): Promise<boolean> {
    return isStillAt(toIdentity(await statAsync(descriptor, BIGINT)), name);
  }

  /**
   * Whether the member that was looked up, or no member, is in this folder.
   *
   * To deceive this check, an attacker has to swap folders at each of several moments and undo the swap between them.
   * An attacker who swaps that often is caught by one of the checks first, and then more confirmations are required.
   * Another member in the same folder is not a sign of an attack, because writers replace files.
   */
  async function isStillAt(member: string | undefined, name: string): Promise<boolean> {
    const isSure = (rounds: number): boolean =>
      rounds >= (performance.now() < waryUntil ? WARY_CONFIRMATIONS : CONFIRMATIONS);
    for (let round = 0; !isSure(round); round += 1) {
      await confirm();
      const found = await mapSystemErrors(lookAt(at(name)));
      if ((found && toIdentity(found)) !== member) return false;
    }
    await confirm();
    return true;
  }

  return {
    identity: () => identity,
    at,
    enter: (name) => openByPath(at(name)),
    leave: () => openByPath(dirname(path)),
    openFile: (name, flags, mode) => attempts(name, () => openMember(name, flags, mode), false),
    lookUp: (name, hasLock) => attempts(name, () => lookUp(name), hasLock),
    confirm,
    sync: async () => {
      const descriptor = await mapSystemErrors(ignoreErrors(openDescriptor(path, O_RDONLY), ...NO_FOLDER_SYNC));
      if (descriptor === undefined) return;
      // Another folder may be at the path by now.
      const sync = async () => syncFolder(toIdentity(await statAsync(descriptor, BIGINT)), descriptor);
      await mapSystemErrors(sync()).finally(() => release(descriptor));
    },
    close: () => {},
  };
}

async function identify(path: string): Promise<string> {
  const stats = await mapSystemErrors(lstat(path, BIGINT));
  if (!stats.isDirectory()) throw new StorageError("not-a-folder", `${path} is not a folder.`);
  if ((await mapSystemErrors(realpath(path))) !== path)
    throw new StorageError("not-found", `${path} resolves to another path.`);
  return toIdentity(stats);
}

function toIdentity({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}
