import { type StorageEntry, StorageError, type WriteOptions } from "../../contracts/storage-adapter.ts";
import { isPrefix, toCanonicalPath, toPathSegments } from "../../contracts/storage-path.ts";
import type {
  AppendOptions,
  CompleteOptions,
  DiscardedUpload,
  StorageUploads,
  UploadChange,
  UploadDraft,
  UploadKey,
  UploadState,
} from "../../contracts/storage-uploads.ts";

/** Creates the uploads of a folder. An upload for a file elsewhere in the storage is as if there were none. */
export function createFolderUploads(uploads: StorageUploads, base: readonly string[]): StorageUploads {
  const locate = (path: string): string => toCanonicalPath([...base, ...toPathSegments(path)]);

  function toInner(state: UploadState | undefined): UploadState | undefined {
    const segments = state && toPathSegments(state.path);
    if (segments === undefined || segments.length === base.length || !isPrefix(base, segments)) return undefined;
    return { ...(state as UploadState), path: toCanonicalPath(segments.slice(base.length)) };
  }

  async function find(key: UploadKey): Promise<UploadState | undefined> {
    return toInner(await uploads.find(key));
  }

  async function requireOwn(key: UploadKey): Promise<void> {
    if ((await find(key)) === undefined) throw new StorageError("not-found");
  }

  async function create(key: UploadKey, path: string, draft: UploadDraft): Promise<UploadState> {
    if (path === "/") throw new StorageError("not-a-file", "The root is a folder, not a file.");
    return { ...(await uploads.create(key, locate(path), draft)), path };
  }

  async function append(
    key: UploadKey,
    offset: number,
    content: AsyncIterable<Uint8Array>,
    options?: AppendOptions,
  ): Promise<UploadState> {
    await requireOwn(key);
    return toInner(await uploads.append(key, offset, content, options)) as UploadState;
  }

  async function update(key: UploadKey, change: UploadChange): Promise<UploadState> {
    await requireOwn(key);
    return toInner(await uploads.update(key, change)) as UploadState;
  }

  async function complete(key: UploadKey, { path, ...options }: CompleteOptions = {}): Promise<StorageEntry> {
    await requireOwn(key);
    return uploads.complete(key, path === undefined ? options : { ...options, path: locate(path) });
  }

  async function discard(key: UploadKey): Promise<DiscardedUpload | undefined> {
    return (await isOwn(key)) ? uploads.discard(key) : undefined;
  }

  /** Whether an upload is in the folder, also if it is lost. */
  async function isOwn(key: UploadKey): Promise<boolean> {
    if ((await find(key)) !== undefined) return true;
    for await (const state of list(key.owner)) if (state.key.id === key.id) return true;
    return false;
  }

  async function* list(owner?: string): AsyncGenerator<UploadState> {
    for await (const state of uploads.list(owner)) {
      const own = toInner(state);
      if (own !== undefined) yield own;
    }
  }

  async function* read(key: UploadKey): AsyncGenerator<Uint8Array> {
    await requireOwn(key);
    yield* uploads.read?.(key) ?? [];
  }

  async function join(keys: readonly UploadKey[], path: string, options?: WriteOptions): Promise<StorageEntry> {
    if (path === "/") throw new StorageError("not-a-file", "The root is a folder, not a file.");
    for (const key of keys) await requireOwn(key);
    if (uploads.join === undefined) throw new StorageError("unsupported");
    return uploads.join(keys, locate(path), options);
  }

  return {
    create,
    find,
    append,
    update,
    complete,
    discard,
    list,
    ...(uploads.read && { read }),
    ...(uploads.join && { join }),
  };
}
