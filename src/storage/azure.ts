import type { Presign } from "../contracts/downloads/presign.ts";
import { toMembers } from "../contracts/member-batches.ts";
import {
  type CreateFolderOptions,
  type RemoveOptions,
  type StorageEntry,
  StorageError,
  type WriteOptions,
} from "../contracts/storage-adapter.ts";
import { createKeyedMutex } from "../platform/keyed-mutex.ts";
import { createAzureClient } from "./azure/client.ts";
import { createAzureCopier } from "./azure/copy.ts";
import { toBlobEntry, toBlobLocation } from "./azure/entries.ts";
import { headBlob, isAnyBlobBelow } from "./azure/head.ts";
import { listBlobs } from "./azure/list.ts";
import { fromBlobName } from "./azure/names.ts";
import { type AzureStorage, type AzureStorageOptions, toAzureSettings } from "./azure/options.ts";
import { createTextBlobs, hasBlobProperties } from "./azure/properties.ts";
import { readBlob } from "./azure/read.ts";
import { createAzureRemover } from "./azure/remove.ts";
import { createAzureWriter } from "./azure/write.ts";
import { createObjectCopyAndMove } from "./object-store/copy-and-move.ts";
import type { ObjectLocation } from "./object-store/keys.ts";
import { createListedMarker, type ListPage, listAllObjects, listObjectMembers } from "./object-store/member-pages.ts";
import { createObjectAttributes } from "./object-store/properties.ts";

/** How many blobs of a folder are copied at the same time. */
const PARALLEL_COPIES = 16;

export type { AzureFetch, AzureStorage, AzureStorageOptions } from "./azure/options.ts";

/**
 * Creates a storage in a container of Azure Blob Storage. It runs on every runtime with `fetch` and Web Crypto. A
 * folder is a marker `name/`, or any blob below it. docs/storage-azure.md lists its limits.
 * @throws OptionError that names the first wrong option.
 */
export function createAzureStorage(options: AzureStorageOptions): AzureStorage {
  const settings = toAzureSettings(options);
  const { prefix, clock, container } = settings;
  const client = createAzureClient(settings);
  const writer = createAzureWriter(client);
  const remover = createAzureRemover(client);
  const withLock = createKeyedMutex();
  /** Time of all folders, because the store keeps none. */
  const folderTime = new Date(Math.floor(clock() / 1000) * 1000);

  const pageOf: ListPage = (request) => listBlobs(client, request);

  async function stat(path: string): Promise<StorageEntry | undefined> {
    const location = toBlobLocation(prefix, path);
    if (location === undefined) return undefined;
    const [entry, hasProperties] = await Promise.all([look(location), hasBlobProperties(client, location)]);
    return entry && hasProperties ? { ...entry, hasProperties } : entry;
  }

  /** Returns what is at a location, without a look at its properties. */
  async function look({ name, parent, key, folder }: ObjectLocation): Promise<StorageEntry | undefined> {
    const found: StorageEntry = { name: fromBlobName(name), kind: "folder", size: 0, modified: folderTime };
    if (parent === undefined) return found;
    const head = await headBlob(client, key);
    if (head !== undefined) return toBlobEntry(name, head);
    return (await isAnyBlobBelow(client, folder)) ? found : undefined;
  }

  async function* listBatches(path: string): AsyncGenerator<readonly StorageEntry[]> {
    const location = findable(path);
    const { folder } = location;
    const batches = listObjectMembers(pageOf, folder, folderTime, (signal) =>
      createListedMarker(pageOf, folder, { signal }),
    );
    for await (const members of batches) {
      if (members === undefined) await expectFolder(location);
      else yield members.map((member) => ({ ...member, name: fromBlobName(member.name) }));
    }
  }

  /** Throws if a location without keys below it is not the root, which always exists. */
  async function expectFolder({ parent, key }: ObjectLocation): Promise<void> {
    if (parent === undefined) return;
    const isFile = (await headBlob(client, key)) !== undefined;
    throw new StorageError(isFile ? "not-a-folder" : "not-found", key);
  }

  async function write(path: string, content: AsyncIterable<Uint8Array>, writeOptions: WriteOptions = {}) {
    return writer.writeFile(creatable(path), content, writeOptions);
  }

  async function createFolder(path: string, { owner }: CreateFolderOptions = {}): Promise<void> {
    const location = creatable(path);
    if (owner?.user !== undefined || owner?.group !== undefined) {
      throw new StorageError("denied", "Folders in a container have no owner.");
    }
    await writer.createFolder(location);
  }

  async function remove(path: string, conditions: RemoveOptions = {}): Promise<void> {
    await remover.remove(findable(path), conditions);
  }

  async function check(): Promise<void> {
    try {
      await listBlobs(client, { prefix, most: 1 });
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
      throw new StorageError(error.code, `The container ${container} does not respond: ${error.message}`);
    }
  }

  const presignRead: Presign = async (path, { seconds, etag, contentType, contentDisposition }) => {
    const { key } = findable(path);
    const head = await headBlob(client, key);
    if (head === undefined || (etag !== undefined && head.etag !== etag)) return undefined;
    // As a read does: the content as it is stored, of the size that listings show.
    const isEncoded = head.contentHeaders["x-ms-blob-content-encoding"] !== undefined;
    const encoding = isEncoded && { rsce: "identity" };
    const response = { rscc: "private, no-cache", rscd: contentDisposition, ...encoding, rsct: contentType };
    return client.presign(key, seconds, response);
  };

  /** Returns the location of a path at which something may exist. */
  function findable(path: string): ObjectLocation {
    const location = toBlobLocation(prefix, path);
    if (location === undefined) throw new StorageError("not-found", "The path is not a possible key.");
    return location;
  }

  /** Returns the location of a path at which something may be created. */
  function creatable(path: string): ObjectLocation {
    const location = toBlobLocation(prefix, path);
    if (location === undefined) throw new StorageError("bad-name", "The path is not a possible key.");
    return location;
  }

  const { copy, move } = createObjectCopyAndMove({
    ...createAzureCopier(client, writer),
    parallel: PARALLEL_COPIES,
    copiesByReading: false,
    locate: (path) => toBlobLocation(prefix, path),
    look,
    createFolder,
    remove,
    checkTarget: (location, signal) => writer.checkTarget(location, {}, signal),
    removeProperties: remover.removeProperties,
    removeCopied: remover.removeCopied,
    pages: (folder, signal) => listAllObjects(pageOf, folder, signal),
  });
  const attributes = createObjectAttributes({
    find: findable,
    look,
    ...createTextBlobs(client),
    removeObject: remover.removeBlob,
  });

  const storage: AzureStorage = {
    stat,
    list: (path) => toMembers(() => listBatches(path)),
    read: async (path, range) => readBlob(client, findable(path), range),
    locateContent: async (path) => ({ storage, path, medium: "bucket" }),
    write,
    createFolder,
    remove,
    // Within this process exactly one succeeds of several that move one source, or create one new name, and changes of
    // properties do not compete.
    copy: (from, to, copyOptions) => withLock(`to ${to}`, () => copy(from, to, copyOptions)),
    move: (from, to, moveOptions) =>
      withLock(`from ${from}`, () => withLock(`to ${to}`, () => move(from, to, moveOptions))),
    attributes: {
      properties: attributes.properties,
      change: (path, changes) => withLock(`change ${path}`, () => attributes.change(path, changes)),
    },
    check,
    presignRead,
  };
  Object.assign(presignRead, { storage });
  return storage;
}
