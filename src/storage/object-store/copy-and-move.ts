import {
  type EntityTags,
  hasCode,
  type Placement,
  type RemoveOptions,
  type StorageAdapter,
  type StorageEntry,
  StorageError,
  type TransferOptions,
} from "../../contracts/storage-adapter.ts";
import { inParallel } from "../../platform/in-parallel.ts";
import { checkSeparatePaths, checkSource } from "../conditions.ts";
import { createChangedSourceError, removeSource } from "../remove-source.ts";
import {
  type CopiedObjects,
  type CopiedObjectsInput,
  createCopiedObjects,
  type ListedObject,
} from "./copied-objects.ts";
import { isKey, isLongerKey, type ObjectLocation, PROPERTIES_FOLDER, toPropertiesKey } from "./keys.ts";
import { createPermits, type Permits } from "./permits.ts";

/** How one object is copied. */
export interface ObjectCopyOptions {
  /** Conditions on the source. */
  readonly ifMatch?: EntityTags;
  /** Nothing may be at the new key. */
  readonly isNew: boolean;
  /** The caller knows that there was nothing at the new key, and has not looked at it just now. */
  readonly isInNewFolder?: true;
  /** Every request that copies needs one. */
  readonly permits: Permits;
  readonly signal?: AbortSignal | undefined;
}

/** A finished copy of one object. */
export interface ObjectCopy {
  /** Entity-tag of the version that was copied; empty if unknown. */
  readonly source: string;
  /** Entity-tag of the copy; empty if unknown. */
  readonly etag: string;
}

/** What copies and moves need of a bucket, and of its storage. */
export interface CopyBucket {
  /** How many objects of a folder are copied in parallel. */
  readonly parallel: number;
  /** Whether `copyObject` reads the object here, because the bucket cannot copy it. */
  readonly copiesByReading: boolean;
  locate(path: string): ObjectLocation | undefined;
  /** Returns what is at a location. Its `hasProperties` is not used. */
  look(location: ObjectLocation): Promise<StorageEntry | undefined>;
  createFolder(path: string): Promise<void>;
  remove(path: string, options?: RemoveOptions): Promise<void>;
  /** Checks that a file may be stored at a location, as a write does. */
  checkTarget(location: ObjectLocation, signal: AbortSignal | undefined): Promise<void>;
  /**
   * Copies one version of an object with its metadata. Returns `undefined` if there is no source.
   * @throws StorageError `precondition-failed` because of the source, `already-exists`
   */
  copyObject(from: string, to: string, options: ObjectCopyOptions): Promise<ObjectCopy | undefined>;
  /** Removes the properties of what is, or was, at a location. */
  removeProperties(location: ObjectLocation): Promise<void>;
  /** Lists all objects whose keys begin with a prefix, in the order of their keys. */
  pages(prefix: string, signal?: AbortSignal): AsyncIterable<readonly ListedObject[]>;
  /** Removes the objects of a folder that were copied and, if no others are left, its properties. */
  removeCopied(location: ObjectLocation, copied: CopiedObjects): Promise<void>;
  /** Whether a copy with another entity-tag is one of this version. */
  isCopy(source: ListedObject, copy: ListedObject): Promise<boolean>;
}

/** The source and the target of a copy, and what is there. */
interface Checked {
  readonly source: ObjectLocation;
  readonly target: ObjectLocation;
  readonly kind: StorageEntry["kind"];
  /** What is at the new path. */
  readonly current: StorageEntry | undefined;
}

/** What a finished copy has made. */
interface Copied {
  readonly placement: Placement;
  readonly source: ObjectLocation;
  readonly target: ObjectLocation;
  /** `undefined` for a folder. */
  readonly file: ObjectCopy | undefined;
}

/**
 * Creates `copy` and `move` of a storage in a bucket. A folder is copied object by object, with the properties of its
 * members, which are objects too. If one fails, the copies are removed, but nothing that others have put there. A move
 * copies everything, and then removes the objects that have not changed since.
 */
export function createObjectCopyAndMove(bucket: CopyBucket): Required<Pick<StorageAdapter, "copy" | "move">> {
  async function copy(from: string, to: string, options: TransferOptions = {}): Promise<Placement> {
    return (await copyTo(from, to, options)).placement;
  }

  async function move(from: string, to: string, options: TransferOptions = {}): Promise<Placement> {
    const copied = await copyTo(from, to, options);
    return removeSource(
      copied.placement,
      () => removeOriginal(from, copied),
      () => takeBack(to, copied),
    );
  }

  async function copyTo(from: string, to: string, options: TransferOptions): Promise<Copied> {
    const { signal, replace = false, ifMatch } = options;
    const checked = await check(from, to, options);
    const { source, target, kind, current } = checked;
    if (bucket.copiesByReading) options.onRead?.();
    if (kind === "folder") await checkFolder(checked, signal);
    // A file replaces a file in one step.
    if (current !== undefined && (kind === "folder" || current.kind === "folder")) await bucket.remove(to);
    const placement = current === undefined ? "created" : "replaced";
    const copyOptions = { isNew: !replace, permits: createPermits(bucket.parallel), signal };
    if (kind === "folder") {
      const copied: Copied = { placement, source, target, file: undefined };
      await copyFolder(copied, to, copyOptions);
      return copied;
    }
    const file = await copyFile(source, target, { ...copyOptions, ...(ifMatch !== undefined && { ifMatch }) });
    const copied: Copied = { placement, source, target, file };
    const isReplaced = current?.kind === "file";
    try {
      // With the new content in place of the old one, there is no way back.
      await copyProperties(source, target, isReplaced ? { ...copyOptions, signal: undefined } : copyOptions);
    } catch (error) {
      if (!isReplaced) await takeBack(to, copied);
      throw error;
    }
    return copied;
  }

  /** Looks at both paths of a copy. Throws what a copy rejects with before it changes anything. */
  async function check(from: string, to: string, options: TransferOptions): Promise<Checked> {
    checkSeparatePaths(from, to);
    options.signal?.throwIfAborted();
    const [source, target] = [bucket.locate(from), bucket.locate(to)];
    const [found, current] = await Promise.all([source && bucket.look(source), target && bucket.look(target)]);
    const { kind } = checkSource(found, options);
    if (source === undefined) throw new StorageError("not-found");
    if (target === undefined) throw new StorageError("bad-name", "The path is not a possible key.");
    if (current !== undefined && options.replace !== true) throw new StorageError("already-exists");
    return { source, target, kind, current };
  }

  async function copyFile(
    source: ObjectLocation,
    target: ObjectLocation,
    options: ObjectCopyOptions,
  ): Promise<ObjectCopy> {
    await bucket.checkTarget(target, options.signal).catch((error: unknown) => {
      const isTaken = options.isNew && hasCode(error, "not-a-file");
      throw isTaken ? new StorageError("already-exists", target.key) : error;
    });
    const copied = await bucket.copyObject(source.key, target.key, options);
    if (copied === undefined) throw new StorageError("not-found", source.key);
    return copied;
  }

  async function copyFolder(copied: Copied, to: string, copyOptions: ObjectCopyOptions): Promise<void> {
    const { source, target } = copied;
    await bucket.createFolder(to);
    try {
      await copyProperties(source, target, copyOptions);
      await copyObjects(source.folder, target.folder, copyOptions);
    } catch (error) {
      await takeBack(to, copied);
      throw error;
    }
  }

  /** Checks that a folder can be copied, before anything is replaced or copied. */
  async function checkFolder({ source, target, current }: Checked, signal?: AbortSignal): Promise<void> {
    const from = source.folder;
    const to = target.folder;
    if (current !== undefined || isLongerKey(to, from)) await checkObjects(from, to, signal);
  }

  /** Checks that there are objects, and that they fit below the new prefix. */
  async function checkObjects(from: string, to: string, signal?: AbortSignal): Promise<void> {
    let isFound = false;
    for await (const page of bucket.pages(from, signal)) {
      isFound ||= page.length > 0;
      for (const { key } of page) checkNewKey(to + key.slice(from.length));
    }
    if (!isFound) throw new StorageError("not-found", from);
  }

  /** Copies all objects below a prefix but the marker. Those that disappear meanwhile are left out. */
  async function copyObjects(from: string, to: string, { permits, signal }: ObjectCopyOptions): Promise<void> {
    let isFound = false;
    async function* keys(): AsyncGenerator<string> {
      for await (const page of bucket.pages(from, signal)) {
        isFound ||= page.length > 0;
        for (const { key } of page) if (key !== from) yield key;
      }
    }

    await inParallel(keys(), { most: bucket.parallel, signal }, async (key, ended) => {
      const target = to + key.slice(from.length);
      if (isLeftOut(target)) return;
      checkNewKey(target);
      await bucket.copyObject(key, target, { isNew: true, isInNewFolder: true, permits, signal: ended });
    });
    if (!isFound) throw new StorageError("not-found", from);
  }

  /** Gives a copy the properties of its original, and no others. */
  async function copyProperties(
    source: ObjectLocation,
    target: ObjectLocation,
    { permits, signal }: ObjectCopyOptions,
  ): Promise<void> {
    const [from, to] = [toPropertiesKey(source), toPropertiesKey(target)];
    const options = { isNew: false, permits, signal };
    // A longer path may have no properties. Those of the original are left out then, as on other storages.
    const canCopy = isKey(from) && isKey(to);
    const copied = canCopy ? await bucket.copyObject(from, to, options) : undefined;
    if (copied === undefined && isKey(to)) await bucket.removeProperties(target);
  }

  async function removeOriginal(from: string, { source, target, file }: Copied): Promise<void> {
    const addLeftOut = (copied: CopiedObjects) => withLeftOut(copied, source.folder, target.folder);
    if (file === undefined) return removeCopied(source, target, bucket.isCopy, addLeftOut);
    await bucket.remove(from, toVersion(file.source));
  }

  /**
   * Removes a copy, as far as possible. What others have put there or changed stays. So do copies whose originals were
   * changed or removed meanwhile: they look like any other object.
   */
  async function takeBack(to: string, { source, target, file }: Copied): Promise<void> {
    const removing =
      file === undefined
        ? removeCopied(target, source, (copy, original) => bucket.isCopy(original, copy))
        : bucket.remove(to, toVersion(file.etag));
    await removing.catch(() => undefined);
  }

  /** Removes the objects of a folder that are equal to those of another one. */
  async function removeCopied(
    location: ObjectLocation,
    { folder: to }: ObjectLocation,
    isCopy: CopiedObjectsInput["isCopy"],
    addOthers = (copied: CopiedObjects) => copied,
  ): Promise<void> {
    const from = location.folder;
    const copied = createCopiedObjects({ from, to, copies: bucket.pages(to), isCopy, parallel: bucket.parallel });
    await bucket.removeCopied(location, addOthers(copied));
    if (copied.hasRemaining()) throw createChangedSourceError();
  }

  return { copy, move };
}

/** Selects a version of a file. Its entity-tag is empty if it is unknown. */
function toVersion(etag: string): RemoveOptions {
  return { kind: "file", ...(etag !== "" && { ifMatch: [etag] }) };
}

function checkNewKey(key: string): void {
  if (!isKey(key) && !isLeftOut(key)) throw new StorageError("bad-name", "The new path of a member is too long.");
}

/** Whether a key would be that of properties, but is too long. They are left out, as those of a single file are. */
function isLeftOut(key: string): boolean {
  return !isKey(key) && key.includes(`/${PROPERTIES_FOLDER}/`);
}

/** Also selects properties that the copy has left out. */
function withLeftOut(copied: CopiedObjects, from: string, to: string): CopiedObjects {
  const hasNoCopy = ({ key }: ListedObject): boolean => isLeftOut(to + key.slice(from.length));
  const select: CopiedObjects["select"] = async (page) => [
    ...page.filter(hasNoCopy).map(({ key }) => key),
    ...(await copied.select(page.filter((one) => !hasNoCopy(one)))),
  ];
  return { ...copied, select };
}
