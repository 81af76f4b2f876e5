import { type BigIntStats, constants, existsSync, fstat, fstatSync, fsync, openSync, readlinkSync } from "node:fs";
import { lstat, realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { isStorageError, StorageError } from "../../contracts/storage-adapter.ts";
import { createKeyedMutex } from "../../platform/keyed-mutex.ts";
import { ignoreErrors, mapErrorCode, mapSystemErrors, mapSystemErrorsSync } from "./errors.ts";
import { lookAt, lookSync, type MemberName, openDescriptor, release } from "./system-calls.ts";

/**
 * An open folder. What is done to a member through it is done in this very folder, whatever anyone puts in the
 * place of its path, or of a path above it, meanwhile (SECURITY 6).
 */
export interface OpenFolder {
  /** Device and inode: equal for all that is open of one folder. */
  identity(): string;
  /** The path by which a system call that does not follow links finds a member. */
  at(name: MemberName): MemberName;
  /**
   * The folder of this name in it.
   * @throws StorageError `not-found`, or `not-a-folder` on anything else, a link included.
   */
  enter(name: MemberName): Promise<OpenFolder>;
  /** The folder that it is in. */
  leave(): Promise<OpenFolder>;
  /** Opens a file without following a link and without waiting for the other end of a pipe. The descriptor is the caller's to close. */
  openFile(name: string, flags: number, mode?: number): Promise<number>;
  /**
   * What the system knows of a member, a link as a link; `undefined` when nothing has this name. `hasLock`: whoever asks has had to wait
   * for the lock of the name ({@link withNameLock}) and still has it, so that no other may be waited for.
   */
  lookUp(name: string, hasLock: boolean): Promise<BigIntStats | undefined>;
  /** The same at once, for disks that are quick (`latency-guard.ts`); missing where a path must be confirmed. */
  lookSync?(name: string): BigIntStats | undefined;
  /** As `openFile`, but at once, for reading, and failing as the system does; missing where a path must be confirmed. */
  openFileSync?(name: string): number;
  /**
   * To be called before and after a member is touched by its path: nothing where that path is safe by itself.
   * @throws StorageError `not-found` when nothing stands at the path any more, `unavailable` when something else does.
   */
  confirm(): Promise<void>;
  /** Has the names of its members written to the device. */
  sync(): Promise<void>;
  close(): void;
}

// Windows has neither flag.
const { O_RDONLY, O_DIRECTORY = 0, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
const FOLDER = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
const statAsync = promisify(fstat);
const syncAsync = promisify(fsync);
const BIGINT = { bigint: true } as const;
/** How often a member is looked at, or opened, again that was replaced meanwhile: but for the first time with the writers of this process waiting. */
const MAX_ATTEMPTS = 20;
/**
 * How often in a row a member must be the same one, and its folder's path the folder's own, where there are no descriptors of folders; and for how long more
 * often, in milliseconds, since something else stood at the path of a folder that was open: somebody may be swapping.
 */
const CONFIRMATIONS = 3;
const WARY_CONFIRMATIONS = 12;
const WARY_MS = 60_000;
let waryUntil = Number.NEGATIVE_INFINITY;
/** File systems that cannot do this to a folder, or have no need of it. */
const NO_FOLDER_SYNC = ["EINVAL", "ENOTSUP", "EISDIR", "EPERM"];

const withLock = createKeyedMutex();

/** Runs an action alone among all that this process does to one name of one folder under this lock. */
export function withNameLock<T>(
  folder: Pick<OpenFolder, "identity">,
  name: string,
  action: () => Promise<T>,
): Promise<T> {
  return withLock(`${folder.identity()}/${name}`, action);
}

/** Whether members can be reached through a folder's descriptor: on Linux, with /proc mounted. Deno asks for all rights first, and throws without them. */
export function hasDescriptorPaths(): boolean {
  try {
    return process.platform === "linux" && existsSync("/proc/self/fd");
  } catch {
    return false;
  }
}

/** Opens a folder as a descriptor; members are reached as `/proc/self/fd/<descriptor>/<name>`. */
export async function openByDescriptor(path: MemberName): Promise<OpenFolder> {
  return toFolder(await openFolderAt(path));
}

/**
 * Opens the folder at a path of several segments by one call, if no link is on the way; else `undefined`. Sound
 * because the descriptor is asked for its path after it was opened, and opening a folder has no effect of its own. Without `realPath` nothing is asked: for a
 * path whose last segment alone can be a link, which is not followed.
 */
export async function openWhole(path: string, realPath: string | undefined): Promise<OpenFolder | undefined> {
  try {
    return toFolderAt(await openFolderAt(path), realPath);
  } catch {
    // Whoever walks segment by segment finds the reason.
    return undefined;
  }
}

/** The same at once, for disks that are quick. */
export function openWholeSync(path: string, realPath: string | undefined): OpenFolder | undefined {
  try {
    return toFolderAt(openSync(path, FOLDER), realPath);
  } catch {
    return undefined;
  }
}

/** The folder of a descriptor, which is closed where that is of another one. */
function toFolderAt(descriptor: number, realPath: string | undefined): OpenFolder | undefined {
  if (realPath === undefined) return toFolder(descriptor);
  try {
    if (readlinkSync(toPath(descriptor)) === realPath) return toFolder(descriptor);
  } catch {
    // As if it were another one.
  }
  release(descriptor);
  return undefined;
}

function openFolderAt(path: MemberName): Promise<number> {
  return mapSystemErrors(openDescriptor(path, FOLDER), { ELOOP: "not-a-folder" });
}

function toPath(descriptor: number): string {
  return `/proc/self/fd/${descriptor}`;
}

function toFolder(descriptor: number): OpenFolder {
  const place = toPath(descriptor);

  function at(name: MemberName): MemberName {
    return typeof name === "string" ? `${place}/${name}` : Buffer.concat([Buffer.from(`${place}/`), name]);
  }

  return {
    identity: () => toIdentity(mapSystemErrorsSync(() => fstatSync(descriptor, BIGINT))),
    at,
    enter: (name) => openByDescriptor(at(name)),
    leave: () => openByDescriptor(at("..")),
    openFile: (name, flags, mode) => mapSystemErrors(openDescriptor(at(name), flags | O_NOFOLLOW | O_NONBLOCK, mode)),
    lookUp: (name) => mapSystemErrors(lookAt(at(name))),
    lookSync: (name) => lookSync(at(name)),
    openFileSync: (name) => openSync(at(name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK),
    confirm: async () => {},
    sync: async () => {
      await mapSystemErrors(ignoreErrors(syncAsync(descriptor), ...NO_FOLDER_SYNC));
    },
    close: () => release(descriptor),
  };
}

/**
 * Opens a folder as its real path, for systems without paths through descriptors: `confirm` compares path and inode
 * with those at the opening. A name in other letters than the stored ones is not found.
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
    throw new StorageError("unavailable", `Another folder stands at ${path}.`);
  }

  /** What an attempt gives, which is `"replaced"` where the member was not the same one throughout. */
  async function attempts<T>(name: string, attempt: () => Promise<T | "replaced">, hasLock: boolean): Promise<T> {
    const isFree = (count: number): boolean => hasLock || count === 0;
    for (let count = 0; count < MAX_ATTEMPTS; count += 1) {
      const result = await (isFree(count) ? attempt() : withNameLock({ identity: () => identity }, name, attempt));
      if (result !== "replaced") return result;
    }
    throw new StorageError("unavailable", `${at(name)} is replaced all the time.`);
  }

  /** Nothing is told but what was the same each time. */
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
    if (found !== "replaced" && found?.isSymbolicLink()) throw new StorageError("not-found", `${at(name)} is a link.`);
    return "replaced";
  }

  /** Whether a descriptor is of what stands in this folder, and not of something that a link led to. */
  async function isOpenedAt(descriptor: number, name: string): Promise<boolean> {
    return isStillAt(toIdentity(await statAsync(descriptor, BIGINT)), name);
  }

  /**
   * Whether the member that was looked at, or nothing, is in this folder. A swap would have to hit each of several moments, and be undone between them, to
   * show something else; whoever swaps so often is met by one of them first, and then there are more. A member that is
   * another one in the same folder is no sign of that: writers replace files.
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
      await mapSystemErrors(ignoreErrors(syncAsync(descriptor), ...NO_FOLDER_SYNC)).finally(() => release(descriptor));
    },
    close: () => {},
  };
}

async function identify(path: string): Promise<string> {
  const stats = await mapSystemErrors(lstat(path, BIGINT));
  if (!stats.isDirectory()) throw new StorageError("not-a-folder", `${path} is no folder.`);
  if ((await mapSystemErrors(realpath(path))) !== path)
    throw new StorageError("not-found", `${path} has another name.`);
  return toIdentity(stats);
}

function toIdentity({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}
