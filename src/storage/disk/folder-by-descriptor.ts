import { constants, existsSync, fstatSync, openSync, readlinkSync } from "node:fs";
import { StorageError } from "../../contracts/storage-adapter.ts";
import { mapSystemErrors, mapSystemErrorsSync } from "./errors.ts";
import { MEMBER_FLAGS, type OpenFolder, syncFolder, toIdentity } from "./open-folder.ts";
import { BIGINT, lookAt, lookSync, type MemberName, openDescriptor, release } from "./system-calls.ts";

// Windows lacks O_DIRECTORY and O_NOFOLLOW.
const { O_RDONLY, O_DIRECTORY = 0, O_NOFOLLOW = 0 } = constants;
const FOLDER = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
const CONFIRMED = Promise.resolve();

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
    if (readlinkSync(toPath(descriptor)) === realPath) return toFolder(descriptor, realPath);
  } catch {
    // Treated as another folder.
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

/** `foundAt`: the real path of the folder, if that was read just now. */
function toFolder(descriptor: number, foundAt?: string): OpenFolder {
  const place = toPath(descriptor);

  function at(name: MemberName): MemberName {
    return typeof name === "string" ? `${place}/${name}` : Buffer.concat([Buffer.from(`${place}/`), name]);
  }

  /** The system keeps the path of a descriptor up to date, and calls a removed one `(deleted)`. */
  const realPath = (): string => mapSystemErrorsSync(() => readlinkSync(place));

  function watchPath(): () => void {
    const path = foundAt ?? realPath();
    return () => {
      if (realPath() !== path) throw new StorageError("not-found", "The folder was moved or removed.");
    };
  }

  const identity = (): string => toIdentity(mapSystemErrorsSync(() => fstatSync(descriptor, BIGINT)));

  return {
    identity,
    at,
    enter: (name) => openByDescriptor(at(name)),
    leave: () => openByDescriptor(at("..")),
    openFile: (name, flags, mode) => mapSystemErrors(openDescriptor(at(name), flags | MEMBER_FLAGS, mode)),
    lookUp: (name) => mapSystemErrors(lookAt(at(name))),
    lookSync: (name) => lookSync(at(name)),
    openFileSync: (name) => openSync(at(name), O_RDONLY | MEMBER_FLAGS),
    confirm: () => CONFIRMED,
    watchPath,
    descriptorPath: toPath,
    sync: async () => syncFolder(identity(), descriptor),
    close: () => release(descriptor),
  };
}
