import { toBatches, toMembers } from "../contracts/member-batches.ts";
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
import type { AttributeChanges, Properties, StorageAttributes } from "../contracts/storage-attributes.ts";
import { nameOf, toCanonicalPath, toPathSegments } from "../contracts/storage-path.ts";
import { checkSeparatePaths } from "./conditions.ts";
import { createFolderUploads } from "./folder-storage/uploads.ts";
import { createLocationError, renameEntry } from "./mount.ts";
import { noteOrigin } from "./origin.ts";

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
    return toCanonicalPath([...base, ...toPathSegments(path)]);
  }

  async function stat(path: string): Promise<StorageEntry | undefined> {
    const entry = await storage.stat(locate(path));
    return entry && renameEntry(entry, nameOf(path));
  }

  async function* listBatches(path: string, options?: ListOptions): AsyncGenerator<readonly StorageEntry[]> {
    yield* toBatches(storage.list(locate(path), options));
  }

  async function listingTag(path: string): Promise<string | undefined> {
    return storage.listingTag?.(locate(path));
  }

  async function read(path: string, range?: ByteRange): Promise<StoredFile> {
    if (path === "/") throw new StorageError("not-a-file", "The root is a folder, not a file.");
    return storage.read(locate(path), range);
  }

  async function locateContent(path: string): Promise<ContentLocation | undefined> {
    return storage.locateContent?.(locate(path));
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

  function createCopyOrMove(verb: "copy" | "move") {
    return async (from: string, to: string, options?: TransferOptions): Promise<Placement> => {
      checkSeparatePaths(from, to);
      return storage[verb](locate(from), locate(to), options);
    };
  }

  const list = (path: string, options?: ListOptions): AsyncIterable<StorageEntry> =>
    toMembers(() => listBatches(path, options));

  const folder: StorageAdapter = {
    stat,
    list,
    ...(storage.listingTag && { listingTag }),
    read,
    ...(storage.locateContent && { locateContent }),
    write,
    createFolder,
    remove,
    copy: createCopyOrMove("copy"),
    move: createCopyOrMove("move"),
    ...(storage.attributes && { attributes: createFolderAttributes(storage.attributes, locate) }),
    ...(storage.uploads && { uploads: createFolderUploads(storage.uploads, base) }),
  };
  noteOrigin(folder, { storage, base });
  return folder;
}

function createFolderAttributes(attributes: StorageAttributes, locate: (path: string) => string): StorageAttributes {
  const properties = async (path: string): Promise<Properties> => attributes.properties(locate(path));

  async function change(path: string, changes: AttributeChanges): Promise<StorageEntry> {
    return { ...(await attributes.change(locate(path), changes)), name: nameOf(path) };
  }

  return { properties, change };
}
