import { handOn, handOnUploads } from "../contracts/handed-on.ts";
import type { QuotaLimit } from "../contracts/quota.ts";
import type { StorageAdapter } from "../contracts/storage-adapter.ts";
import type { StorageUploads } from "../contracts/storage-uploads.ts";

/**
 * Returns a storage that hands the home folder of an account, and its limit, along with each call that stores
 * something. Only storages with quotas, and those with a trash, have a use for it.
 */
export function withOwnLimit(storage: StorageAdapter, quota: QuotaLimit): StorageAdapter {
  const { uploads } = storage;
  return {
    ...handOn(storage),
    write: (path, content, options) => storage.write(path, content, { ...options, quota }),
    copy: (from, to, options) => storage.copy(from, to, { ...options, quota }),
    move: (from, to, options) => storage.move(from, to, { ...options, quota }),
    ...(uploads && { uploads: limitUploads(uploads, quota) }),
  };
}

function limitUploads(uploads: StorageUploads, quota: QuotaLimit): StorageUploads {
  const { join, ...others } = handOnUploads(uploads);
  return {
    ...others,
    create: (key, path, draft) => uploads.create(key, path, { ...draft, quota }),
    append: (key, offset, content, options) => uploads.append(key, offset, content, { ...options, quota }),
    update: (key, change) => uploads.update(key, { ...change, quota }),
    complete: (key, options) => uploads.complete(key, { ...options, quota }),
    ...(join && { join: (keys, path, options) => join(keys, path, { ...options, quota }) }),
  };
}
