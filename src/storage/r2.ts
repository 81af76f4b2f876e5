import { type ByteSource, toByteSource } from "../contracts/byte-source.ts";
import { toMembers } from "../contracts/member-batches.ts";
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
import { toStoredFile } from "../contracts/stored-file.ts";
import { isOfKind, meetsConditions } from "./conditions.ts";
import { isKey, isName, type ObjectLocation, toAncestors, toLocation } from "./object-store/keys.ts";
import type { R2Bucket, R2Condition, R2Object } from "./r2/binding.ts";
import { listMembers, removeBelow, toFileEntry, toFolderEntry } from "./r2/list.ts";
import { calling, writeObject } from "./r2/write.ts";

export type {
  R2Bucket,
  R2Condition,
  R2ListOptions,
  R2MultipartUpload,
  R2Object,
  R2ObjectBody,
  R2Page,
  R2UploadedPart,
} from "./r2/binding.ts";

/** Options of {@link createR2Storage}. */
export interface R2StorageOptions {
  /** Begins every key: names that each end with `/`, such as `tenants/one/`. Default: `""`, the whole bucket. */
  readonly prefix?: string;
  /**
   * What is held in memory of an upload. Content that is no longer is stored by one request, and its conditions are exact; longer content in parts of this size.
   * 5,242,880 (R2's least) to 33,554,432. Default: 8,388,608.
   */
  readonly partBytes?: number;
}

const MARKER = new Uint8Array();
const LEAST_PART_BYTES = 5_242_880;
/** A Worker has 128 MB for all that it does at once. */
const MOST_PART_BYTES = 33_554_432;

/**
 * A storage in a bucket of Cloudflare R2, by its binding to a Worker. A folder is an object `name/`, or any object below it.
 *
 * Conditions are exact for content of up to `partBytes`; for longer content and for removals they are checked just before. Folders cost a request each in
 * listings, for their times.
 * @throws TypeError naming the option that is wrong.
 */
export function createR2Storage(bucket: R2Bucket, options: R2StorageOptions = {}): StorageAdapter {
  const { prefix = "", partBytes = 8_388_608 } = options;
  checkOption(isBucket(bucket), "bucket", "a binding of R2");
  checkOption(isPrefix(prefix), "prefix", 'empty, or names that each end with "/", such as tenants/one/');
  const isPartSize = Number.isSafeInteger(partBytes) && partBytes >= LEAST_PART_BYTES && partBytes <= MOST_PART_BYTES;
  checkOption(isPartSize, "partBytes", "a whole number from 5,242,880 to 33,554,432");

  /** The file at a place, and whether a folder is there. */
  async function look(location: ObjectLocation): Promise<readonly [R2Object | null, boolean]> {
    return Promise.all([findFile(location), isFolder(location.folder)]);
  }

  async function findFile({ key }: Pick<ObjectLocation, "key">): Promise<R2Object | null> {
    return key === "" ? null : calling(() => bucket.head(key));
  }

  async function isFolder(folder: string): Promise<boolean> {
    if (folder === prefix) return true;
    if (!isKey(folder)) return false;
    return (await calling(() => bucket.list({ prefix: folder, limit: 1 }))).objects.length > 0;
  }

  /** @throws StorageError `not-a-folder`, `parent-missing`. */
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
    const { name, folder } = location;
    const [file, isThere] = await look(location);
    if (file !== null) return toFileEntry(name, file);
    if (!isThere) return undefined;
    return toFolderEntry(name, folder === prefix ? null : await calling(() => bucket.head(folder)));
  }

  async function* listBatches(path: string): AsyncGenerator<readonly StorageEntry[]> {
    const location = findable(path);
    if ((await findFile(location)) !== null) throw new StorageError("not-a-folder");
    if (!isKey(location.folder)) throw new StorageError("not-found");
    yield* listMembers(bucket, location.folder, location.parent === undefined);
  }

  async function read(path: string, range?: ByteRange): Promise<StoredFile> {
    const location = findable(path);
    const file = await get(location, range);
    if (file !== undefined) return file;
    throw new StorageError((await isFolder(location.folder)) ? "not-a-file" : "not-found");
  }

  /** Entry and bytes come with one answer. */
  async function get(location: ObjectLocation, range: ByteRange | undefined): Promise<StoredFile | undefined> {
    const { name, key, parent } = location;
    if (parent === undefined) return undefined;
    if (range?.length === 0) return getNothing(location);
    try {
      const found = await bucket.get(key, range && { range: { offset: range.offset, length: range.length } });
      return found === null ? undefined : toStoredFile(toFileEntry(name, found), toSource(found.body));
    } catch (cause) {
      // A range behind the end is an error for R2.
      const empty = await getNothing(location);
      if (empty !== undefined && (range === undefined || range.offset < empty.entry.size)) {
        throw new StorageError("unavailable", "R2 failed.", { cause });
      }
      return empty;
    }
  }

  /** A file, and none of its bytes. */
  async function getNothing(location: ObjectLocation): Promise<StoredFile | undefined> {
    const found = await findFile(location);
    return found === null ? undefined : toStoredFile(toFileEntry(location.name, found), new Uint8Array());
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
    const object = await writeObject({ bucket, key: location.key, content, options: writeOptions, partBytes, check });
    return toFileEntry(location.name, object);
  }

  async function checkTarget(location: ObjectLocation, conditions: WriteOptions): Promise<string | undefined> {
    if (location.parent === undefined) throw new StorageError("not-a-file");
    const [file, asFolder] = await look(location);
    if (file === null && asFolder) throw new StorageError("not-a-file");
    await checkParent(location.parent);
    if (!meetsConditions(file?.httpEtag, conditions)) throw new StorageError("precondition-failed");
    return file?.httpEtag;
  }

  async function createFolder(path: string, { owner }: CreateFolderOptions = {}): Promise<void> {
    if (owner?.user !== undefined || owner?.group !== undefined) throw new StorageError("denied", "R2 has no owners.");
    const location = creatable(path);
    const [file, asFolder] = await look(location);
    if (file !== null || asFolder || location.parent === undefined) throw new StorageError("already-exists");
    if (!isKey(location.folder)) throw new StorageError("bad-name");
    await checkParent(location.parent);
    if (!(await putMarker(location.folder))) throw new StorageError("already-exists");
  }

  /** Whether it was not there before. */
  async function putMarker(folder: string): Promise<boolean> {
    const onlyIf: R2Condition = { etagDoesNotMatch: "*" };
    return (await calling(() => bucket.put(folder, MARKER, { onlyIf }))) !== null;
  }

  /**
   * A folder that others have made without a marker gets one: its last member may be going. A look comes first, since a key takes one write a
   * second; of many that see none at once one may be refused while another has put it.
   */
  async function keepParent(parent: string): Promise<void> {
    const hasMarker = async (): Promise<boolean> => (await calling(() => bucket.head(parent))) !== null;
    if (parent === prefix || (await hasMarker())) return;
    try {
      await putMarker(parent);
    } catch (error) {
      if (!(await hasMarker())) throw error;
    }
  }

  async function remove(path: string, conditions: RemoveOptions = {}): Promise<void> {
    const location = findable(path);
    if (location.parent === undefined) throw new StorageError("denied", "The root stays.");
    const [file, asFolder] = await look(location);
    const kind = file === null ? "folder" : "file";
    if ((file === null && !asFolder) || !isOfKind(kind, conditions)) throw new StorageError("not-found");
    if (!meetsConditions(file?.httpEtag, conditions)) throw new StorageError("precondition-failed");
    await keepParent(location.parent);
    if (file !== null) await calling(() => bucket.delete([location.key]));
    else await removeBelow(bucket, location.folder);
  }

  /** A place where something may be. */
  function findable(path: string): ObjectLocation {
    const location = toLocation(prefix, path);
    if (location === undefined) throw new StorageError("not-found");
    return location;
  }

  /** A place where something may come. */
  function creatable(path: string): ObjectLocation {
    const location = toLocation(prefix, path);
    if (location === undefined) throw new StorageError("bad-name");
    return location;
  }

  return { stat, list: (path) => toMembers(() => listBatches(path)), read, write, createFolder, remove };
}

function isPrefix(prefix: string): boolean {
  if (prefix === "") return true;
  return typeof prefix === "string" && prefix.endsWith("/") && prefix.slice(0, -1).split("/").every(isName);
}

/** A stream of workerd rejects a read that waits when it is cancelled: with a source it has come to its end. */
function toSource(stream: ReadableStream<Uint8Array>): ByteSource {
  const source = toByteSource(stream);
  let isClosed = false;

  async function readInto(buffer: Uint8Array): Promise<number> {
    try {
      return await source.readInto(buffer);
    } catch (error) {
      if (isClosed) return 0;
      throw error;
    }
  }

  function close(): Promise<void> {
    isClosed = true;
    return source.close();
  }

  return { readInto, close };
}

/** A binding's methods are those of a class of the runtime, or of a proxy. */
function isBucket(bucket: R2Bucket | undefined): boolean {
  const { head, get, put, delete: remove, list, createMultipartUpload } = bucket ?? {};
  return [head, get, put, remove, list, createMultipartUpload].every((method) => typeof method === "function");
}
