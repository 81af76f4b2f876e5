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

/** Storages by the canonical paths where they show; `/` is among them. */
export type Mounts = Readonly<Record<string, StorageAdapter>>;

/** A storage, and where in the tree it shows. */
interface Mount {
  /** Segments of its place. */
  readonly place: readonly string[];
  readonly storage: StorageAdapter;
}

/** A path, and whose it is. */
interface Located {
  readonly storage: StorageAdapter;
  /** The path inside that storage. */
  readonly path: string;
  /** Whether another storage shows at it or below it: it is a folder then, whatever stands there, and stays. */
  readonly isFixed: boolean;
}

const locationErrors = new WeakSet<object>();

/** Whether something was denied for where storages show alone: nothing is wrong with any of them, and there is nothing to mend. */
export function isLocationError(error: object): boolean {
  return locationErrors.has(error);
}

function throwLocationError(message: string): StorageError {
  const error = new StorageError("denied", message);
  locationErrors.add(error);
  return error;
}

/**
 * One tree of several storages: `{ "/": disk, "/archive": s3 }`. The longest path wins, compared by whole segments. The folders on
 * the way to a storage exist even where nothing stands behind them, and then nothing else can be put into them (`denied`). A
 * storage hides what the one around it has in its place. The place of a storage and the folders on the way cannot be removed (`denied`).
 * @throws TypeError for a path that is not canonical, or without `/`.
 */
export function mountStorage(mounts: Mounts): StorageAdapter {
  const sorted = toMounts(mounts);

  function locate(path: string): Located {
    const segments = toPathSegments(path);
    const found = sorted.find(({ place }) => isPrefix(place, segments)) as Mount;
    return {
      storage: found.storage,
      path: toPath(segments.slice(found.place.length)),
      isFixed: sorted.some(({ place }) => place.length > 0 && isPrefix(segments, place)),
    };
  }

  async function stat(path: string): Promise<StorageEntry | undefined> {
    const { storage, path: inner, isFixed } = locate(path);
    if (isFixed) return statFixed(path);
    const entry = await storage.stat(inner);
    return entry && { ...entry, name: nameOf(path) };
  }

  /** A folder on the way to a storage, or its place: it is there, whatever its own storage has for it. */
  async function statFixed(path: string): Promise<StorageEntry> {
    const { storage, path: inner } = locate(path);
    const entry = await storage.stat(inner);
    const name = nameOf(path);
    return entry?.kind === "folder" ? { ...entry, name } : { name, kind: "folder", size: 0, modified: new Date(0) };
  }

  /** The names of the members of a folder that lead to other storages. */
  function fixedMembers(path: string): ReadonlySet<string> {
    const segments = toPathSegments(path);
    const below = sorted.filter(({ place }) => place.length > segments.length && isPrefix(segments, place));
    return new Set(below.map(({ place }) => place[segments.length] as string));
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
    if (isFixed) throw throwLocationError("A storage shows here.");
    await storage.remove(inner, options);
  }

  /** A folder that only leads to a storage has nothing behind it that could hold a member. */
  async function refuseHollowParent(path: string): Promise<void> {
    const parent = locate(toPath(toPathSegments(path).slice(0, -1)));
    if (parent.isFixed && (await parent.storage.stat(parent.path))?.kind !== "folder") {
      throw throwLocationError("Nothing stands behind this folder.");
    }
  }

  const list = (path: string): AsyncIterable<StorageEntry> => toMembers(() => listBatches(path));

  return { stat, list, read, write, createFolder, remove };
}

/**
 * The part of a storage below one of its folders, as a storage of its own. Where the folder is missing, so is the root. The folder stays:
 * it cannot be removed, replaced or made through this storage.
 */
export function createFolderStorage(storage: StorageAdapter, base: readonly string[]): StorageAdapter {
  if (base.length === 0) return storage;

  /** Judges the path before it is put behind the base: `x` would lead to a neighbour. */
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
    if (path === "/") throw new StorageError("not-a-file", "The root is a folder.");
    return storage.read(locate(path), range);
  }

  async function write(
    path: string,
    content: AsyncIterable<Uint8Array>,
    options?: WriteOptions,
  ): Promise<StorageEntry> {
    if (path === "/") throw new StorageError("not-a-file", "The root is a folder.");
    return storage.write(locate(path), content, options);
  }

  async function createFolder(path: string, options?: CreateFolderOptions): Promise<void> {
    if (path === "/") throw new StorageError("already-exists", "The root is there.");
    await storage.createFolder(locate(path), options);
  }

  async function remove(path: string, options?: RemoveOptions): Promise<void> {
    if (path === "/") throw throwLocationError("The root stays.");
    await storage.remove(locate(path), options);
  }

  const list = (path: string): AsyncIterable<StorageEntry> => toMembers(() => listBatches(path));

  return { stat, list, read, write, createFolder, remove };
}

/** Mounts, the deepest first. */
function toMounts(mounts: Mounts): readonly Mount[] {
  checkOption(Object.hasOwn(mounts, "/"), "mounts", 'an object with a storage at "/"');
  const all = Object.entries(mounts).map(([path, storage]) => ({ place: toPathSegments(path), storage }));
  return all.sort((one, other) => other.place.length - one.place.length);
}

function isPrefix(prefix: readonly string[], segments: readonly string[]): boolean {
  return prefix.every((segment, index) => segment === segments[index]);
}

/** The last name of a path; of the root the empty text. */
function nameOf(path: string): string {
  return toPathSegments(path).at(-1) ?? "";
}

function toPath(segments: readonly string[]): string {
  return `/${segments.join("/")}`;
}
