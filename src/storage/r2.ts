import { toMembers } from "../contracts/member-batches.ts";
import { checkOption } from "../contracts/option-error.ts";
import {
  type ByteRange,
  type CreateFolderOptions,
  type ListOptions,
  type RemoveOptions,
  type StorageAdapter,
  type StorageEntry,
  StorageError,
  type StoredFile,
  type WriteOptions,
} from "../contracts/storage-adapter.ts";
import { isOfKind, meetsConditions } from "./conditions.ts";
import { createObjectCopyAndMove } from "./object-store/copy-and-move.ts";
import { isKey, isName, type ObjectLocation, toAncestors, toLocation } from "./object-store/keys.ts";
import { createPartMemory } from "./object-store/part-memory.ts";
import { createObjectAttributes } from "./object-store/properties.ts";
import { createObjectUploads } from "./object-store/uploads.ts";
import type { R2Bucket, R2Object } from "./r2/binding.ts";
import { createR2Copier } from "./r2/copy.ts";
import { listR2Members, toFolderEntry, toR2FileEntry } from "./r2/list.ts";
import { listFirstR2Members } from "./r2/list-first.ts";
import { listR2Objects } from "./r2/pages.ts";
import { hasR2Properties } from "./r2/properties.ts";
import { readObject } from "./r2/read.ts";
import { createR2Remover, putR2Marker } from "./r2/remove.ts";
import { createR2TextObjects } from "./r2/text-objects.ts";
import { createR2UploadBucket } from "./r2/upload-bucket.ts";
import { mapR2Errors, writeObject } from "./r2/write.ts";

export type {
  R2Bucket,
  R2Condition,
  R2HttpMetadata,
  R2ListOptions,
  R2Metadata,
  R2MultipartUpload,
  R2Object,
  R2ObjectBody,
  R2Page,
  R2UploadedPart,
} from "./r2/binding.ts";

/** Options of {@link createR2Storage}. */
export interface R2StorageOptions {
  /** Prefix of every key: names that each end with `/`, such as `tenants/one/`. Default: `""`, the whole bucket. */
  readonly prefix?: string;
  /**
   * Bytes of an upload that are held in memory. Content up to this size is stored by one request, with exact
   * conditions. Longer content is stored in parts of this size. 5,242,880 (the minimum of R2) to 33,554,432. Default:
   * 8,388,608.
   */
  readonly partBytes?: number;
}

const LEAST_PART_BYTES = 5_242_880;
/** A Worker has 128 MB of memory for all its requests. */
const MOST_PART_BYTES = 33_554_432;
/** How many objects of a folder are copied at the same time. Each has two of the six connections of a Worker. */
const PARALLEL_COPIES = 3;

/**
 * Creates a storage in a Cloudflare R2 bucket, through its binding to a Worker. A folder is an object `name/`, or any
 * object below it.
 *
 * Conditions are exact for content up to `partBytes`. For longer content and for removals they are checked just before
 * the change. A listing costs one request per folder, to get its modification time.
 * @throws TypeError naming the option that is wrong.
 */
export function createR2Storage(bucket: R2Bucket, options: R2StorageOptions = {}): StorageAdapter {
  const { prefix = "", partBytes = 8_388_608 } = options;
  checkOption(isBucket(bucket), "bucket", "a binding of R2");
  checkOption(isPrefix(prefix), "prefix", 'empty, or names that each end with "/", such as tenants/one/');
  const isPartSize = Number.isSafeInteger(partBytes) && partBytes >= LEAST_PART_BYTES && partBytes <= MOST_PART_BYTES;
  checkOption(isPartSize, "partBytes", "a whole number from 5,242,880 to 33,554,432");

  // Without a limit: a request of a Worker must not wait for another one.
  const memory = createPartMemory(Number.POSITIVE_INFINITY);
  const remover = createR2Remover(bucket, prefix);

  /** Returns the file at a location, and whether there is a folder. */
  async function find(location: ObjectLocation): Promise<readonly [R2Object | null, boolean]> {
    return Promise.all([findFile(location), isFolder(location.folder)]);
  }

  async function findFile({ key }: Pick<ObjectLocation, "key">): Promise<R2Object | null> {
    return key === "" ? null : mapR2Errors(() => bucket.head(key));
  }

  async function isFolder(folder: string): Promise<boolean> {
    if (folder === prefix) return true;
    if (!isKey(folder)) return false;
    return (await mapR2Errors(() => bucket.list({ prefix: folder, limit: 1 }))).objects.length > 0;
  }

  /**
   * Checks that a parent folder exists.
   * @throws StorageError `not-a-folder`, `parent-missing`.
   */
  async function checkParent(parent: string): Promise<void> {
    if (parent === prefix) return;
    const [asFile, asFolder] = await Promise.all([findFile({ key: parent.slice(0, -1) }), isFolder(parent)]);
    if (asFolder && asFile === null) return;
    for (const key of toAncestors(prefix, parent)) {
      if ((await findFile({ key })) !== null) throw new StorageError("not-a-folder");
    }
    throw new StorageError("parent-missing");
  }

  async function stat(path: string): Promise<StorageEntry | undefined> {
    const location = toLocation(prefix, path);
    if (location === undefined) return undefined;
    const [entry, hasProperties] = await Promise.all([look(location), hasR2Properties(bucket, location)]);
    return entry && hasProperties ? { ...entry, hasProperties } : entry;
  }

  /** Returns what is at a location, without a look at its properties. */
  async function look(location: ObjectLocation): Promise<StorageEntry | undefined> {
    const { name, folder } = location;
    const [file, isThere] = await find(location);
    if (file !== null) return toR2FileEntry(name, file);
    if (!isThere) return undefined;
    return toFolderEntry(name, folder === prefix ? null : await mapR2Errors(() => bucket.head(folder)));
  }

  async function* listBatches(path: string, part?: ListOptions): AsyncGenerator<readonly StorageEntry[]> {
    const location = findable(path);
    if ((await findFile(location)) !== null) throw new StorageError("not-a-folder");
    if (!isKey(location.folder)) throw new StorageError("not-found");
    const isRoot = location.parent === undefined;
    if (part) yield* listFirstR2Members(bucket, location.folder, isRoot, part);
    else yield* listR2Members(bucket, location.folder, isRoot);
  }

  async function read(path: string, range?: ByteRange): Promise<StoredFile> {
    const location = findable(path);
    const file = await readObject(bucket, location, range);
    if (file !== undefined) return file;
    throw new StorageError((await isFolder(location.folder)) ? "not-a-file" : "not-found");
  }

  async function write(
    path: string,
    content: AsyncIterable<Uint8Array>,
    writeOptions: WriteOptions = {},
  ): Promise<StorageEntry> {
    const location = creatable(path);
    writeOptions.signal?.throwIfAborted();
    const check = () => checkTarget(location, writeOptions);
    await check();
    const { key } = location;
    const object = await writeObject({ bucket, key, content, options: writeOptions, partBytes, memory, check });
    const hasProperties = await hasR2Properties(bucket, location).catch(() => false);
    return { ...toR2FileEntry(location.name, object), ...(hasProperties && { hasProperties }) };
  }

  async function checkTarget(location: ObjectLocation, conditions: WriteOptions): Promise<string | undefined> {
    if (location.parent === undefined) throw new StorageError("not-a-file");
    const [file, asFolder] = await find(location);
    if (file === null && asFolder) throw new StorageError("not-a-file");
    await checkParent(location.parent);
    if (!meetsConditions(file?.httpEtag, conditions)) throw new StorageError("precondition-failed");
    return file?.httpEtag;
  }

  async function createFolder(path: string, { owner }: CreateFolderOptions = {}): Promise<void> {
    if (owner?.user !== undefined || owner?.group !== undefined)
      throw new StorageError("denied", "Folders in R2 have no owner.");
    const location = creatable(path);
    const [file, asFolder] = await find(location);
    if (file !== null || asFolder || location.parent === undefined) throw new StorageError("already-exists");
    if (!isKey(location.folder)) throw new StorageError("bad-name");
    await checkParent(location.parent);
    if (!(await putR2Marker(bucket, location.folder))) throw new StorageError("already-exists");
  }

  async function remove(path: string, conditions: RemoveOptions = {}): Promise<void> {
    const location = findable(path);
    if (location.parent === undefined) throw new StorageError("denied", "The root folder cannot be removed.");
    const [file, asFolder] = await find(location);
    const kind = file === null ? "folder" : "file";
    if ((file === null && !asFolder) || !isOfKind(kind, conditions)) throw new StorageError("not-found");
    if (!meetsConditions(file?.httpEtag, conditions)) throw new StorageError("precondition-failed");
    await (file === null ? remover.removeFolder(location) : remover.removeFile(location));
  }

  /** Returns the location of a path at which something may exist. */
  function findable(path: string): ObjectLocation {
    const location = toLocation(prefix, path);
    if (location === undefined) throw new StorageError("not-found");
    return location;
  }

  /** Returns the location of a path at which something may be created. */
  function creatable(path: string): ObjectLocation {
    const location = toLocation(prefix, path);
    if (location === undefined) throw new StorageError("bad-name");
    return location;
  }

  const { copy, move } = createObjectCopyAndMove({
    ...createR2Copier({ bucket, partBytes, memory }),
    parallel: PARALLEL_COPIES,
    copiesByReading: true,
    locate: (path) => toLocation(prefix, path),
    look,
    createFolder,
    remove,
    async checkTarget(location) {
      await checkTarget(location, {});
    },
    removeProperties: remover.removeProperties,
    removeCopied: remover.removeCopied,
    pages: (folder, signal) => listR2Objects(bucket, folder, signal),
  });

  return {
    stat,
    list: (path, part) => toMembers(() => listBatches(path, part)),
    read,
    write,
    createFolder,
    remove,
    copy,
    move,
    attributes: createObjectAttributes({
      find: findable,
      look,
      ...createR2TextObjects(bucket),
      removeObject: (key) => mapR2Errors(() => bucket.delete([key])),
    }),
    uploads: createObjectUploads(
      createR2UploadBucket({ bucket, prefix, partBytes, memory, locate: creatable, checkTarget, isFolder }),
    ),
  };
}

function isPrefix(prefix: string): boolean {
  if (prefix === "") return true;
  return typeof prefix === "string" && prefix.endsWith("/") && prefix.slice(0, -1).split("/").every(isName);
}

/** Methods may be inherited from a class of the runtime, or come from a proxy. */
function isBucket(bucket: R2Bucket | undefined): boolean {
  const { head, get, put, delete: remove, list, createMultipartUpload, resumeMultipartUpload } = bucket ?? {};
  const methods = [head, get, put, remove, list, createMultipartUpload, resumeMultipartUpload];
  return methods.every((method) => typeof method === "function");
}
