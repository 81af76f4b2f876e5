import type { Presign } from "../contracts/downloads/presign.ts";
import { toMembers } from "../contracts/member-batches.ts";
import {
  type ByteRange,
  type CreateFolderOptions,
  type ListOptions,
  type RemoveOptions,
  type StorageEntry,
  StorageError,
  type StoredFile,
  type WriteOptions,
} from "../contracts/storage-adapter.ts";
import { createKeyedMutex } from "../platform/keyed-mutex.ts";
import { createObjectCopyAndMove } from "./object-store/copy-and-move.ts";
import { type ObjectLocation, toLocation } from "./object-store/keys.ts";
import { createListedMarker, type ListPage, listObjectMembers } from "./object-store/member-pages.ts";
import { toObjectEntry } from "./object-store/object-entry.ts";
import { createObjectAttributes } from "./object-store/properties.ts";
import { createJoin, createObjectUploads } from "./object-store/uploads.ts";
import { createS3Client } from "./s3/client.ts";
import { createConditionSupport } from "./s3/conditional-change.ts";
import { createS3Copier } from "./s3/copy.ts";
import { createS3Presigner } from "./s3/downloads/presign.ts";
import { headObject, isAnyBelow } from "./s3/head.ts";
import { listObjects, listPage } from "./s3/list.ts";
import { listFirstS3Members } from "./s3/list-first.ts";
import { type S3Storage, type S3StorageOptions, toS3Settings } from "./s3/options.ts";
import { hasS3Properties } from "./s3/properties.ts";
import { readFile } from "./s3/read.ts";
import { createS3Remover } from "./s3/remove.ts";
import { createS3TextObjects } from "./s3/text-objects.ts";
import { createS3UploadBucket } from "./s3/upload-bucket.ts";
import { createS3Writer } from "./s3/write.ts";

/** How many objects of a folder are copied at the same time. */
const PARALLEL_COPIES = 16;

export type { S3Credentials, S3Fetch, S3Storage, S3StorageOptions } from "./s3/options.ts";

/**
 * Creates a storage in a bucket of any S3-compatible store. It runs on every runtime with `fetch` and Web Crypto. A
 * folder is a marker object `name/`, or any key below it. docs/storage-s3.md lists what it needs of a store, and its
 * limits.
 * @throws TypeError that names the first wrong option.
 */
export function createS3Storage(options: S3StorageOptions): S3Storage {
  const settings = toS3Settings(options);
  const { prefix, clock, bucket, conditionalWrites } = settings;
  const client = createS3Client(settings);
  const support = createConditionSupport(conditionalWrites);
  const writer = createS3Writer(client, support);
  const remover = createS3Remover(client, support);
  const presigner = createS3Presigner(client);
  const withLock = createKeyedMutex();
  /** Time of all folders, because stores keep none. */
  const folderTime = new Date(Math.floor(clock() / 1000) * 1000);

  const pageOf: ListPage = (request) => listPage(client, request);

  async function stat(path: string): Promise<StorageEntry | undefined> {
    const location = toLocation(prefix, path);
    if (location === undefined) return undefined;
    const [entry, hasProperties] = await Promise.all([look(location), hasS3Properties(client, location)]);
    return entry && hasProperties ? { ...entry, hasProperties } : entry;
  }

  /** Returns what is at a location, without a look at its properties. */
  async function look(location: ObjectLocation): Promise<StorageEntry | undefined> {
    const folder: StorageEntry = { name: location.name, kind: "folder", size: 0, modified: folderTime };
    if (location.parent === undefined) return folder;
    const head = await headObject(client, location.key);
    if (head !== undefined) {
      presigner.note(location.key, head);
      return toObjectEntry(location.name, head);
    }
    return (await isAnyBelow(client, location.folder)) ? folder : undefined;
  }

  async function* listBatches(path: string, part?: ListOptions): AsyncGenerator<readonly StorageEntry[]> {
    const location = findable(path);
    const { folder } = location;
    const batches = part
      ? listFirstS3Members(client, folder, folderTime, part)
      : listObjectMembers(pageOf, folder, folderTime, (signal) => createListedMarker(pageOf, folder, { signal }));
    for await (const members of batches) {
      if (members === undefined) await expectFolder(location);
      else yield members;
    }
  }

  /** Throws if a location without keys below it is not the root, which always exists. */
  async function expectFolder({ parent, key }: ObjectLocation): Promise<void> {
    if (parent === undefined) return;
    const isFile = (await headObject(client, key)) !== undefined;
    throw new StorageError(isFile ? "not-a-folder" : "not-found", key);
  }

  async function read(path: string, range?: ByteRange): Promise<StoredFile> {
    return readFile(client, findable(path), range);
  }

  async function write(
    path: string,
    content: AsyncIterable<Uint8Array>,
    writeOptions: WriteOptions = {},
  ): Promise<StorageEntry> {
    return writer.writeFile(creatable(path), content, writeOptions);
  }

  async function createFolder(path: string, { owner }: CreateFolderOptions = {}): Promise<void> {
    const location = creatable(path);
    if (owner?.user !== undefined || owner?.group !== undefined) {
      throw new StorageError("denied", "Folders in a bucket have no owner.");
    }
    await writer.createFolder(location);
  }

  async function remove(path: string, conditions: RemoveOptions = {}): Promise<void> {
    await remover.remove(findable(path), conditions);
  }

  async function check(): Promise<void> {
    await client.checkKeys();
    try {
      await listPage(client, { prefix, most: 1 });
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      throw new StorageError(error.code, `The bucket ${bucket} does not respond: ${error.message}`);
    }
  }

  /** Returns the location of a path at which something may exist. */
  function findable(path: string): ObjectLocation {
    const location = toLocation(prefix, path);
    if (location === undefined) throw new StorageError("not-found", "The path is not a possible key.");
    return location;
  }

  /** Returns the location of a path at which something may be created. */
  function creatable(path: string): ObjectLocation {
    const location = toLocation(prefix, path);
    if (location === undefined) throw new StorageError("bad-name", "The path is not a possible key.");
    return location;
  }

  const { copyObject } = createS3Copier(client, support, writer.uploads);
  const { copy, move } = createObjectCopyAndMove({
    parallel: PARALLEL_COPIES,
    copiesByReading: false,
    locate: (path) => toLocation(prefix, path),
    look,
    createFolder,
    remove,
    checkTarget: (location, signal) => writer.checkTarget(location, {}, signal),
    copyObject,
    removeProperties: remover.removeProperties,
    removeCopied: remover.removeCopied,
    pages: (folder, signal) => listObjects(client, folder, signal),
    async isCopy(source, copy) {
      return (await headObject(client, copy.key))?.source === source.etag;
    },
  });
  const attributes = createObjectAttributes({
    find: findable,
    look,
    ...createS3TextObjects(client, support),
    removeObject: remover.removeObject,
  });

  const presignRead: Presign = async (path, request) => presigner.presignRead(findable(path), request);

  const storage: S3Storage = {
    stat,
    list: (path, part) => toMembers(() => listBatches(path, part)),
    read,
    locateContent: async (path) => ({ storage, path, medium: "bucket" }),
    write,
    createFolder,
    remove,
    // Within this process exactly one succeeds of several that move one source, or create one new name, and changes of
    // properties do not compete.
    copy: (from, to, options) => withLock(`to ${to}`, () => copy(from, to, options)),
    move: (from, to, options) => withLock(`from ${from}`, () => withLock(`to ${to}`, () => move(from, to, options))),
    attributes: {
      properties: attributes.properties,
      change: (path, changes) => withLock(`change ${path}`, () => attributes.change(path, changes)),
    },
    uploads: createObjectUploads(createS3UploadBucket({ client, support, writer, remover }), createJoin),
    check,
    presignRead,
  };
  Object.assign(presignRead, { storage });
  return storage;
}
