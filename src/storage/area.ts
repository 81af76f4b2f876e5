import { handOn, handOnUploads } from "../contracts/handed-on.ts";
import { toBatches, toMembers } from "../contracts/member-batches.ts";
import {
  type ListOptions,
  type StorageAdapter,
  type StorageEntry,
  StorageError,
  type StorageErrorCode,
} from "../contracts/storage-adapter.ts";
import type { StorageUploads } from "../contracts/storage-uploads.ts";

/** The *area*: the folder in the root of a storage where wrappers keep what is removed and replaced. */
const AREA = "__svc__";
export const TRASH_FOLDER = `/${AREA}/trash`;
export const VERSIONS_FOLDER = `/${AREA}/versions`;
/** The records of moves and removals that take versions along. */
export const VERSION_MOVES_FOLDER = `/${AREA}/versions-moves`;
/** Empty folders of versions, until they are removed. */
export const UNUSED_VERSIONS_FOLDER = `/${AREA}/versions-unused`;
/** The records of entries of the trash that are being removed for good. */
export const TRASH_PURGES_FOLDER = `/${AREA}/trash-purges`;
/** Empty folders of the trash, until they are removed. */
export const UNUSED_TRASH_FOLDER = `/${AREA}/trash-unused`;

const IN_AREA = /^\/__svc__(?:\/|$)/iu;

/** The storages whose area is hidden, by what {@link hideArea} has made of them. */
const opened = new WeakMap<StorageAdapter, StorageAdapter>();

/**
 * Returns the storage without the hiding that {@link hideArea} has added, so that a wrapper sees the area. Any other
 * storage is returned as it is.
 */
export function openArea(storage: StorageAdapter): StorageAdapter {
  return opened.get(storage) ?? storage;
}

/**
 * Hides the area of a storage from all callers except wrappers. Nothing seems to be there: it is not listed, and to
 * list, read or remove something there is `not-found`. What would create or change something there is `denied`.
 */
export function hideArea(storage: StorageAdapter): StorageAdapter {
  function refuse(code: StorageErrorCode, ...paths: readonly (string | undefined)[]): void {
    if (paths.some((path) => path !== undefined && isInArea(path))) throw new StorageError(code);
  }

  async function* listBatches(path: string, options?: ListOptions): AsyncGenerator<readonly StorageEntry[]> {
    refuse("not-found", path);
    if (path !== "/") {
      yield* toBatches(storage.list(path, options));
      return;
    }
    const needed = options && { ...options, limit: options.limit + 1 };
    for await (const batch of toBatches(storage.list(path, needed))) yield batch.filter(({ name }) => name !== AREA);
  }

  const { attributes, uploads } = storage;
  const { listingTag, ...others } = handOn(storage);
  const covered: StorageAdapter = {
    ...others,
    stat: async (path) => (isInArea(path) ? undefined : storage.stat(path)),
    list: (path, options) => toMembers(() => listBatches(path, options)),
    ...(listingTag && { listingTag: async (path) => (isInArea(path) ? undefined : listingTag(path)) }),
    async read(path, range) {
      refuse("not-found", path);
      return storage.read(path, range);
    },
    async write(path, content, options) {
      refuse("denied", path);
      return storage.write(path, content, options);
    },
    async createFolder(path, options) {
      refuse("denied", path);
      await storage.createFolder(path, options);
    },
    async remove(path, options) {
      refuse("not-found", path);
      await storage.remove(path, options);
    },
    async copy(from, to, options) {
      refuse("denied", from, to);
      return storage.copy(from, to, options);
    },
    async move(from, to, options) {
      refuse("denied", from, to);
      return storage.move(from, to, options);
    },
    ...(attributes && {
      attributes: {
        async properties(path) {
          refuse("denied", path);
          return attributes.properties(path);
        },
        async change(path, changes) {
          refuse("denied", path);
          return attributes.change(path, changes);
        },
      },
    }),
    ...(uploads && { uploads: coverUploads(uploads, refuse) }),
  };
  opened.set(covered, storage);
  return covered;
}

function coverUploads(
  uploads: StorageUploads,
  refuse: (code: StorageErrorCode, path: string | undefined) => void,
): StorageUploads {
  const { join, ...others } = handOnUploads(uploads);
  return {
    ...others,
    async create(key, path, draft) {
      refuse("denied", path);
      return uploads.create(key, path, draft);
    },
    async complete(key, options) {
      refuse("denied", options?.path);
      return uploads.complete(key, options);
    },
    ...(join && {
      async join(keys, path, options) {
        refuse("denied", path);
        return join(keys, path, options);
      },
    }),
  };
}

/** Whether a path is the area itself, or in it. Some disks ignore the case of names. */
export function isInArea(path: string): boolean {
  return IN_AREA.test(path);
}
