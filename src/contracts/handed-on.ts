import type { StorageAdapter } from "./storage-adapter.ts";
import type { StorageUploads } from "./storage-uploads.ts";

/**
 * Returns a storage that hands every call on. Wrappers begin with it and replace what they change. A spread would not
 * do: a storage may be an instance of a class.
 */
export function handOn(storage: StorageAdapter): StorageAdapter {
  const { listingTag, locateContent, attributes, uploads } = storage;
  return {
    stat: (path) => storage.stat(path),
    list: (path, options) => storage.list(path, options),
    ...(listingTag && { listingTag: (path) => listingTag.call(storage, path) }),
    read: (path, range) => storage.read(path, range),
    write: (path, content, options) => storage.write(path, content, options),
    createFolder: (path, options) => storage.createFolder(path, options),
    remove: (path, options) => storage.remove(path, options),
    copy: (from, to, options) => storage.copy(from, to, options),
    move: (from, to, options) => storage.move(from, to, options),
    ...(locateContent && { locateContent: (path) => locateContent.call(storage, path) }),
    ...(attributes && { attributes }),
    ...(uploads && { uploads }),
  };
}

/** Returns uploads that hand every call on, as {@link handOn} does. */
export function handOnUploads(uploads: StorageUploads): StorageUploads {
  const { read, join } = uploads;
  return {
    create: (key, path, draft) => uploads.create(key, path, draft),
    find: (key) => uploads.find(key),
    append: (key, offset, content, options) => uploads.append(key, offset, content, options),
    update: (key, change) => uploads.update(key, change),
    complete: (key, options) => uploads.complete(key, options),
    discard: (key) => uploads.discard(key),
    list: (owner) => uploads.list(owner),
    ...(read && { read: (key) => read.call(uploads, key) }),
    ...(join && { join: (keys, path, options) => join.call(uploads, keys, path, options) }),
  };
}
