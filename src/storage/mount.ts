import { toBatches, toMembers } from "../contracts/member-batches.ts";
import { checkOption } from "../contracts/option-error.ts";
import {
  type ByteRange,
  type ContentLocation,
  type CreateFolderOptions,
  type ListOptions,
  type Placement,
  type RemoveOptions,
  type StorageAdapter,
  type StorageEntry,
  StorageError,
  type StoredFile,
  type TransferOptions,
  type WriteOptions,
} from "../contracts/storage-adapter.ts";
import type { AttributeChanges, Properties } from "../contracts/storage-attributes.ts";
import { isPrefix, nameOf, toCanonicalPath, toPathSegments } from "../contracts/storage-path.ts";
import { sha256Hex } from "../platform/sha256.ts";
import { checkSeparatePaths } from "./conditions.ts";
import { copyByReading, moveByCopying } from "./fallbacks.ts";
import { toMountedOptions } from "./inner-limit.ts";
import { createTreeUploads, type TreeUploadsOptions } from "./mount/uploads.ts";
import { mapMounts } from "./mounted-parts.ts";
import { areOverlapping, type Origin, toOrigin } from "./origin.ts";
import { NO_PROPERTIES } from "./properties.ts";
import { noteDryRun } from "./wrappers/dry-runs.ts";

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
  readonly mount: Mount;
  readonly storage: StorageAdapter;
  /** The path inside that storage. */
  readonly path: string;
  /**
   * Whether another storage is mounted at this path or below it. The path is then always a folder and cannot be removed
   * or replaced.
   */
  readonly isFixed: boolean;
}

/** The entries of folders where storages are mounted, or on the way to one. */
const mountEntries = new WeakSet<StorageEntry>();

/** Whether a listed folder may be in another storage than the folder that has it. */
export function isMountEntry(entry: StorageEntry): boolean {
  return mountEntries.has(entry);
}

/** The entries of folders that are only the way to a mounted storage. */
const wayEntries = new WeakSet<StorageEntry>();

/** Whether a folder is only the way to a mounted storage: the storage around it has none, so it takes no members. */
export function isWayEntry(entry: StorageEntry): boolean {
  return wayEntries.has(entry);
}

/** Returns an entry with another name. */
export function renameEntry(entry: StorageEntry, name: string): StorageEntry {
  const renamed = { ...entry, name };
  if (isWayEntry(entry)) wayEntries.add(renamed);
  return renamed;
}

const locationErrors = new WeakSet<object>();

/**
 * Whether an error was thrown because of the mount points or the root alone. Such an error does not mean that a storage
 * has a problem.
 */
export function isLocationError(error: object): boolean {
  return locationErrors.has(error);
}

/** Makes an error that {@link isLocationError} recognizes. */
export function createLocationError(message: string): StorageError {
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
      mount: found,
      storage: found.storage,
      path: toCanonicalPath(segments.slice(found.mountedAt.length)),
      isFixed: sorted.some(({ mountedAt }) => mountedAt.length > 0 && isPrefix(segments, mountedAt)),
    };
  }

  async function stat(path: string): Promise<StorageEntry | undefined> {
    const { storage, path: inner, isFixed } = locate(path);
    if (isFixed) return statFixed(path);
    const entry = await storage.stat(inner);
    return entry && renameEntry(entry, nameOf(path));
  }

  /**
   * Returns the entry of a mount point or a folder on the way to one. It is always a folder, even if its own storage
   * has nothing or a file there.
   */
  async function statFixed(path: string): Promise<StorageEntry> {
    const { storage, path: inner } = locate(path);
    const found = await storage.stat(inner);
    const real = found?.kind === "folder" ? found : undefined;
    const entry: StorageEntry = { size: 0, modified: new Date(0), ...real, kind: "folder", name: nameOf(path) };
    mountEntries.add(entry);
    if (inner !== "/" && (real === undefined || isWayEntry(real))) wayEntries.add(entry);
    return entry;
  }

  /** Returns the names of a folder's members that lead to other storages. */
  function fixedMembers(path: string): ReadonlySet<string> {
    const segments = toPathSegments(path);
    const below = sorted.filter(({ mountedAt }) => mountedAt.length > segments.length && isPrefix(segments, mountedAt));
    return new Set(below.map(({ mountedAt }) => mountedAt[segments.length] as string));
  }

  async function* listBatches(path: string, options?: ListOptions): AsyncGenerator<readonly StorageEntry[]> {
    const { storage, path: inner, isFixed } = locate(path);
    const fixed = fixedMembers(path);
    const hasRealFolder = !isFixed || (await storage.stat(inner))?.kind === "folder";
    if (hasRealFolder) {
      // The limit of the storage also counts members that other mounts hide.
      const needed = options && { ...options, limit: options.limit + fixed.size };
      const batches = toBatches(storage.list(inner, needed));
      for await (const batch of batches) yield batch.filter(({ name }) => !fixed.has(name));
    }
    yield await statMounts(path, fixed);
  }

  function statMounts(path: string, names: Iterable<string>): Promise<readonly StorageEntry[]> {
    return Promise.all(Array.from(names, (name) => statFixed(path === "/" ? `/${name}` : `${path}/${name}`)));
  }

  async function listingTag(path: string): Promise<string | undefined> {
    const { storage, path: inner } = locate(path);
    const tag = await storage.listingTag?.(inner);
    const fixed = fixedMembers(path);
    if (tag === undefined || fixed.size === 0) return tag;
    const mounts = (await statMounts(path, fixed)).map(({ name, modified }) => [name, modified.getTime()]);
    return sha256Hex(JSON.stringify([tag, mounts]));
  }

  async function read(path: string, range?: ByteRange): Promise<StoredFile> {
    const { storage, path: inner, isFixed } = locate(path);
    if (isFixed) throw new StorageError("not-a-file");
    return storage.read(inner, range);
  }

  async function locateContent(path: string): Promise<ContentLocation | undefined> {
    const { storage, path: inner } = locate(path);
    return storage.locateContent?.(inner);
  }

  async function write(
    path: string,
    content: AsyncIterable<Uint8Array>,
    options?: WriteOptions,
  ): Promise<StorageEntry> {
    const { mount, storage, path: inner } = await locateFile(path);
    return storage.write(inner, content, toMountedOptions(options, mount.mountedAt));
  }

  /** Finds the storage for a file that is written. */
  async function locateFile(path: string): Promise<Located> {
    const located = locate(path);
    if (located.isFixed) throw new StorageError("not-a-file");
    await requireRealParent(path);
    return located;
  }

  async function locateUpload(path: string): ReturnType<TreeUploadsOptions["locate"]> {
    const { mount, storage, path: inner } = await locateFile(path);
    return { uploads: storage.uploads, mountedAt: mount.mountedAt, path: inner };
  }

  async function createFolder(path: string, options?: CreateFolderOptions): Promise<void> {
    const { storage, path: inner, isFixed } = locate(path);
    if (isFixed) throw new StorageError("already-exists");
    await requireRealParent(path);
    await storage.createFolder(inner, options);
  }

  async function remove(path: string, options?: RemoveOptions): Promise<void> {
    const { storage, path: inner, isFixed } = locate(path);
    if (isFixed) throw createLocationError("Another storage is mounted here.");
    await storage.remove(inner, options);
  }

  /**
   * A copy or a move within one storage is its own, whatever mounts lead there. Between two storages, and if other
   * storages are mounted in the source, it reads the source and writes it.
   */
  function createCopyOrMove(verb: "copy" | "move") {
    return async (from: string, to: string, options?: TransferOptions): Promise<Placement> => {
      checkSeparatePaths(from, to);
      const [source, target] = [locate(from), locate(to)];
      if (target.isFixed || (source.isFixed && verb === "move")) {
        throw createLocationError("Another storage is mounted here.");
      }
      const origin = toOrigin(target.storage, target.path);
      if (originsWithin(from).some((one) => areOverlapping(one, origin))) {
        throw createLocationError("One path of the copy or move leads into the other.");
      }
      await requireRealParent(to);
      const { storage, path } = toOrigin(source.storage, source.path);
      if (storage === origin.storage && !source.isFixed) {
        return storage[verb](path, origin.path, toOriginOptions(target, options));
      }
      return verb === "copy" ? copyByReading(tree, from, to, options) : moveByCopying(tree, from, to, options);
    };
  }

  /** Where a path really is, and the roots of the storages that are mounted at it or below it. */
  function originsWithin(path: string): readonly Origin[] {
    const segments = toPathSegments(path);
    const { storage, path: inner } = locate(path);
    const mounted = sorted.filter(({ mountedAt }) => isPrefix(segments, mountedAt));
    return [toOrigin(storage, inner), ...mounted.map((mount) => toOrigin(mount.storage, "/"))];
  }

  async function properties(path: string): Promise<Properties> {
    const { storage, path: inner } = locate(path);
    const entry = await stat(path);
    if (entry === undefined) throw new StorageError("not-found");
    if (entry.hasProperties !== true || storage.attributes === undefined) return NO_PROPERTIES;
    return storage.attributes.properties(inner);
  }

  async function change(path: string, changes: AttributeChanges): Promise<StorageEntry> {
    const { storage, path: inner, isFixed } = locate(path);
    if ((await stat(path)) === undefined) throw new StorageError("not-found");
    if (isFixed || storage.attributes === undefined) throw new StorageError("unsupported");
    return { ...(await storage.attributes.change(inner, changes)), name: nameOf(path) };
  }

  /** Requires that the parent folder of a new member exists, and not only because a storage is mounted below it. */
  async function requireRealParent(path: string): Promise<void> {
    const parent = locate(toCanonicalPath(toPathSegments(path).slice(0, -1)));
    if (parent.isFixed && (await parent.storage.stat(parent.path))?.kind !== "folder") {
      throw createLocationError("No storage is mounted at this folder.");
    }
  }

  const list = (path: string, options?: ListOptions): AsyncIterable<StorageEntry> =>
    toMembers(() => listBatches(path, options));

  const uploading = sorted.flatMap(({ mountedAt, storage }) =>
    storage.uploads === undefined ? [] : [{ mountedAt, uploads: storage.uploads }],
  );

  const tree: StorageAdapter = {
    stat,
    list,
    ...(sorted.some(({ storage }) => storage.listingTag) && { listingTag }),
    read,
    ...(sorted.some(({ storage }) => storage.locateContent) && { locateContent }),
    write,
    createFolder,
    remove,
    copy: createCopyOrMove("copy"),
    move: createCopyOrMove("move"),
    ...(sorted.some(({ storage }) => storage.attributes) && { attributes: { properties, change } }),
    ...(uploading.length > 0 && { uploads: createTreeUploads({ mounts: uploading, locate: locateUpload }) }),
  };
  noteDryRun(tree, (dry) => mountStorage(mapMounts(mounts, dry.storage)));
  return tree;
}

/** Returns the options of a copy or a move for the storage where its target really is. */
function toOriginOptions({ mount, storage }: Located, options?: TransferOptions): TransferOptions | undefined {
  const mounted = toMountedOptions(options, mount.mountedAt);
  if (mounted?.quota === undefined) return mounted;
  return { ...mounted, quota: { ...mounted.quota, path: toOrigin(storage, mounted.quota.path).path } };
}

/** Converts mounts to a list, deepest path first. */
function toMounts(mounts: Mounts): readonly Mount[] {
  checkOption(Object.hasOwn(mounts, "/"), "mounts", 'an object with a storage at "/"');
  const all = Object.entries(mounts).map(([path, storage]) => ({ mountedAt: toPathSegments(path), storage }));
  return all.sort((one, other) => other.mountedAt.length - one.mountedAt.length);
}
