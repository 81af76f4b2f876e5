import { hasCode, type StorageEntry, StorageError } from "../../contracts/storage-adapter.ts";
import { toCanonicalPath, toPathSegments } from "../../contracts/storage-path.ts";
import type {
  AppendOptions,
  CompleteOptions,
  DiscardedUpload,
  JoinOptions,
  StorageUploads,
  UploadChange,
  UploadDraft,
  UploadKey,
  UploadState,
} from "../../contracts/storage-uploads.ts";
import { toMountedOptions } from "../inner-limit.ts";

/** The uploads of a mounted storage. */
export interface MountedUploads {
  /** Segments of the mount path. */
  readonly mountedAt: readonly string[];
  readonly uploads: StorageUploads;
}

/** What the uploads of a tree of storages need. */
export interface TreeUploadsOptions {
  /** The storages that have uploads. At least one. */
  readonly mounts: readonly MountedUploads[];
  /** Returns the storage for a new file at a path, and the path in it. Rejects as `write` does. */
  locate(path: string): Promise<{
    readonly uploads: StorageUploads | undefined;
    readonly mountedAt: readonly string[];
    readonly path: string;
  }>;
}

/**
 * Creates the uploads of a tree of storages. The path of an upload decides where its bytes are. A key does not say
 * this, so one storage after the other is asked. Below a storage without uploads, creation rejects with `unsupported`.
 */
export function createTreeUploads({ mounts, locate }: TreeUploadsOptions): StorageUploads {
  async function create(key: UploadKey, path: string, draft: UploadDraft): Promise<UploadState> {
    const { uploads, mountedAt, path: inner } = await locate(path);
    if (uploads === undefined) throw new StorageError("unsupported");
    // Only the storage of the path has to respond.
    if ((await findIn(key).catch(() => undefined)) !== undefined) throw new StorageError("already-exists");
    return { ...(await uploads.create(key, inner, toMountedOptions(draft, mountedAt) ?? draft)), path };
  }

  /**
   * Asks one storage after the other for an upload: those without it return `undefined` or reject with `not-found`.
   * `unavailable` counts only if no other storage has the upload.
   */
  async function ask<T>(
    use: (mount: MountedUploads) => Promise<T | undefined>,
    mayGoOn = () => true,
  ): Promise<T | undefined> {
    let failure: unknown;
    for (const mount of mounts) {
      try {
        const found = await use(mount);
        if (found !== undefined) return found;
      } catch (error) {
        if (hasCode(error, "not-found")) continue;
        if (!hasCode(error, "unavailable") || !mayGoOn()) throw error;
        failure = error;
      }
    }
    if (failure !== undefined) throw failure;
    return undefined;
  }

  /** Returns an upload with the storage that has it. */
  function findIn(key: UploadKey): Promise<{ mount: MountedUploads; state: UploadState } | undefined> {
    return ask(async (mount) => {
      const state = await mount.uploads.find(key);
      return state && { mount, state: toOuter(mount, state) };
    });
  }

  async function find(key: UploadKey): Promise<UploadState | undefined> {
    return (await findIn(key))?.state;
  }

  /** Calls a method of the storage that has an upload. */
  async function inOwn<T>(use: (mount: MountedUploads) => Promise<T>, mayGoOn?: () => boolean): Promise<T> {
    const result = await ask(use, mayGoOn);
    if (result === undefined) throw new StorageError("not-found");
    return result;
  }

  function append(
    key: UploadKey,
    offset: number,
    content: AsyncIterable<Uint8Array>,
    options?: AppendOptions,
  ): Promise<UploadState> {
    let isRead = false;
    const watched = {
      [Symbol.asyncIterator]() {
        isRead = true;
        return content[Symbol.asyncIterator]();
      },
    };
    return inOwn(
      async (mount) => {
        const inner = toMountedOptions(options, mount.mountedAt);
        return toOuter(mount, await mount.uploads.append(key, offset, watched, inner));
      },
      () => !isRead,
    );
  }

  function update(key: UploadKey, change: UploadChange): Promise<UploadState> {
    return inOwn(async (mount) =>
      toOuter(mount, await mount.uploads.update(key, toMountedOptions(change, mount.mountedAt) ?? change)),
    );
  }

  async function complete(key: UploadKey, { path, ...conditions }: CompleteOptions = {}): Promise<StorageEntry> {
    if (path === undefined) {
      return inOwn(({ uploads, mountedAt }) => uploads.complete(key, toMountedOptions(conditions, mountedAt)));
    }
    const target = await locate(path);
    const found = await findIn(key);
    if (found === undefined) throw new StorageError("not-found");
    const { uploads } = found.mount;
    if (target.uploads !== uploads) throw new StorageError("denied", "An upload stays in its folder.");
    return uploads.complete(key, { ...toMountedOptions(conditions, target.mountedAt), path: target.path });
  }

  function discard(key: UploadKey): Promise<DiscardedUpload | undefined> {
    return ask(({ uploads }) => uploads.discard(key));
  }

  /** Lists the uploads of all storages, also after one that fails. Rejects at the end then: a list hides nothing. */
  async function* list(owner?: string): AsyncGenerator<UploadState> {
    const failures: unknown[] = [];
    for (const mount of mounts) {
      try {
        for await (const state of mount.uploads.list(owner)) yield toOuter(mount, state);
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }

  async function* read(key: UploadKey): AsyncGenerator<Uint8Array> {
    const found = await findIn(key);
    const content = found?.mount.uploads.read?.(key);
    if (content === undefined) throw new StorageError("not-found");
    yield* content;
  }

  async function join(keys: readonly UploadKey[], path: string, options?: JoinOptions): Promise<StorageEntry> {
    const { uploads, mountedAt, path: inner } = await locate(path);
    if (uploads?.join === undefined) throw new StorageError("unsupported");
    try {
      return await uploads.join(keys, inner, toMountedOptions(options, mountedAt));
    } catch (error) {
      if (!hasCode(error, "not-found")) throw error;
      for (const key of keys) {
        const found = await find(key);
        if (found === undefined || found.done !== undefined) throw error;
      }
      throw new StorageError("denied", "Another storage has some of the uploads.", { cause: error });
    }
  }

  return {
    create,
    find,
    append,
    update,
    complete,
    discard,
    list,
    ...(mounts.every(({ uploads }) => uploads.read) && { read }),
    ...(mounts.some(({ uploads }) => uploads.join) && { join }),
  };
}

function toOuter({ mountedAt }: MountedUploads, state: UploadState): UploadState {
  return { ...state, path: toCanonicalPath([...mountedAt, ...toPathSegments(state.path)]) };
}
