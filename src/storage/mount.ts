import { toBatches, toMembers } from "../contracts/member-batches.ts";
import { checkOption } from "../contracts/option-error.ts";
import {
  type ByteRange,
  type CreateFolderOptions,
  type RemoveOptions,
  type StorageAdapter,
  type StorageEntry,
  StorageError,
  type StoredFile,
  type WriteOptions,
} from "../contracts/storage-adapter.ts";
import { toPathSegments } from "../contracts/storage-path.ts";

/** Storages by the canonical path at which each is mounted. `/` is required. */
export type Mounts = Readonly<Record<string, StorageAdapter>>;

/** A storage and its path in the tree. */
interface Mount {
  /** Segments of the mount path. */
  readonly mountedAt: readonly string[];
  readonly storage: StorageAdapter;
}

/** The storage that is responsible for a path. */
interface Located {
  readonly storage: StorageAdapter;
  /** The path inside that storage. */
  readonly path: string;
  /**
   * Whether another storage is mounted at this path or below it. The path is then always a folder and cannot be removed
   * or replaced.
   */
  readonly isFixed: boolean;
}

const locationErrors = new WeakSet<object>();

/**
 * Whether an error was thrown because of the mount points or the root alone. Such an error does not mean that a storage
 * has a problem.
 */
export function isLocationError(error: object): boolean {
  return locationErrors.has(error);
}

function createLocationError(message: string): StorageError {
  const error = new StorageError("denied", message);
  locationErrors.add(error);
  return error;
}

/**
 * Combines several storages to one tree, for example `{ "/": disk, "/archive": s3 }`.
 *
 * The longest mount path wins, compared segment by segment. Folders on the way to a mounted storage always exist. If
 * the storage around them has no such folder, other members cannot be created in them (`denied`). A mounted storage
 * hides what the storage around it has at that path. Mount points and the folders on the way to them cannot be removed
 * (`denied`).
 *
 * @throws TypeError if a path is not canonical, or `/` is missing.
 */
export function mountStorage(mounts: Mounts): StorageAdapter {
  const sorted = toMounts(mounts);

  function locate(path: string): Located {
    const segments = toPathSegments(path);
    const found = sorted.find(({ mountedAt }) => isPrefix(mountedAt, segments)) as Mount;
    return {
      storage: found.storage,
      path: toPath(segments.slice(found.mountedAt.length)),
      isFixed: sorted.some(({ mountedAt }) => mountedAt.length > 0 && isPrefix(segments, mountedAt)),
    };
  }

  async function stat(path: string): Promise<StorageEntry | undefined> {
    const { storage, path: inner, isFixed } = locate(path);
    if (isFixed) return statFixed(path);
    const entry = await storage.stat(inner);
    return entry && { ...entry, name: nameOf(path) };
  }

  /**
   * Returns the entry of a mount point or a folder on the way to one. It is always a folder, even if its own storage
   * has nothing or a file there.
   */
  async function statFixed(path: string): Promise<StorageEntry> {
    const { storage, path: inner } = locate(path);
    const entry = await storage.stat(inner);
    const name = nameOf(path);
    return entry?.kind === "folder" ? { ...entry, name } : { name, kind: "folder", size: 0, modified: new Date(0) };
  }

  /** Returns the names of a folder's members that lead to other storages. */
  function fixedMembers(path: string): ReadonlySet<string> {
    const segments = toPathSegments(path);
    const below = sorted.filter(({ mountedAt }) => mountedAt.length > segments.length && isPrefix(segments, mountedAt));
    return new Set(below.map(({ mountedAt }) => mountedAt[segments.length] as string));
  }

  async function* listBatches(path: string): AsyncGenerator<readonly StorageEntry[]> {
    const { storage, path: inner, isFixed } = locate(path);
    const fixed = fixedMembers(path);
    const hasRealFolder = !isFixed || (await storage.stat(inner))?.kind === "folder";
    if (hasRealFolder) {
      for await (const batch of toBatches(storage.list(inner))) yield batch.filter(({ name }) => !fixed.has(name));
    }
    yield await Promise.all([...fixed].map((name) => statFixed(path === "/" ? `/${name}` : `${path}/${name}`)));
  }

  async function read(path: string, range?: ByteRange): Promise<StoredFile> {
    const { storage, path: inner, isFixed } = locate(path);
    if (isFixed) throw new StorageError("not-a-file");
    return storage.read(inner, range);
  }

  async function write(
    path: string,
    content: AsyncIterable<Uint8Array>,
    options?: WriteOptions,
  ): Promise<StorageEntry> {
    const { storage, path: inner, isFixed } = locate(path);
    if (isFixed) throw new StorageError("not-a-file");
    await refuseHollowParent(path);
    return storage.write(inner, content, options);
  }

  async function createFolder(path: string, options?: CreateFolderOptions): Promise<void> {
    const { storage, path: inner, isFixed } = locate(path);
    if (isFixed) throw new StorageError("already-exists");
    await refuseHollowParent(path);
    await storage.createFolder(inner, options);
  }

  async function remove(path: string, options?: RemoveOptions): Promise<void> {
    const { storage, path: inner, isFixed } = locate(path);
    if (isFixed) throw createLocationError("Another storage is mounted here.");
    await storage.remove(inner, options);
  }

  /** Rejects a new member if its parent folder exists only because a storage is mounted below it. */
  async function refuseHollowParent(path: string): Promise<void> {
    const parent = locate(toPath(toPathSegments(path).slice(0, -1)));
    if (parent.isFixed && (await parent.storage.stat(parent.path))?.kind !== "folder") {
      throw createLocationError("No storage is mounted at this folder.");
    }
  }

  const list = (path: string): AsyncIterable<StorageEntry> => toMembers(() => listBatches(path));

  return { stat, list, read, write, createFolder, remove };
}

/**
 * Creates a storage from a folder of another storage. If the folder is missing, the root of the new storage is missing
 * too. The folder itself cannot be removed, replaced or created through the new storage.
 */
export function createFolderStorage(storage: StorageAdapter, base: readonly string[]): StorageAdapter {
  if (base.length === 0) return storage;

  /**
   * Checks the path before it is appended. A path without a leading `/` would otherwise lead to a sibling of the base.
   */
  function locate(path: string): string {
    return toPath([...base, ...toPathSegments(path)]);
  }

  async function stat(path: string): Promise<StorageEntry | undefined> {
    const entry = await storage.stat(locate(path));
    return entry && { ...entry, name: nameOf(path) };
  }

  async function* listBatches(path: string): AsyncGenerator<readonly StorageEntry[]> {
    yield* toBatches(storage.list(locate(path)));
  }

  async function read(path: string, range?: ByteRange): Promise<StoredFile> {
    if (path === "/") throw new StorageError("not-a-file", "The root is a folder, not a file.");
    return storage.read(locate(path), range);
  }

  async function write(
    path: string,
    content: AsyncIterable<Uint8Array>,
    options?: WriteOptions,
  ): Promise<StorageEntry> {
    if (path === "/") throw new StorageError("not-a-file", "The root is a folder, not a file.");
    return storage.write(locate(path), content, options);
  }

  async function createFolder(path: string, options?: CreateFolderOptions): Promise<void> {
    if (path === "/") throw new StorageError("already-exists", "The root folder already exists.");
    await storage.createFolder(locate(path), options);
  }

  async function remove(path: string, options?: RemoveOptions): Promise<void> {
    if (path === "/") throw createLocationError("The root folder cannot be removed.");
    await storage.remove(locate(path), options);
  }

  const list = (path: string): AsyncIterable<StorageEntry> => toMembers(() => listBatches(path));

  return { stat, list, read, write, createFolder, remove };
}

/** Converts mounts to a list, deepest path first. */
function toMounts(mounts: Mounts): readonly Mount[] {
  checkOption(Object.hasOwn(mounts, "/"), "mounts", 'an object with a storage at "/"');
  const all = Object.entries(mounts).map(([path, storage]) => ({ mountedAt: toPathSegments(path), storage }));
  return all.sort((one, other) => other.mountedAt.length - one.mountedAt.length);
}

function isPrefix(prefix: readonly string[], segments: readonly string[]): boolean {
  return prefix.every((segment, index) => segment === segments[index]);
}

/** Returns the last name of a path, or the empty string for the root. */
function nameOf(path: string): string {
  return toPathSegments(path).at(-1) ?? "";
}

function toPath(segments: readonly string[]): string {
  return `/${segments.join("/")}`;
}
