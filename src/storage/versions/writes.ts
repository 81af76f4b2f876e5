import { handOnUploads } from "../../contracts/handed-on.ts";
import { hasCode, type StorageAdapter, type StorageEntry } from "../../contracts/storage-adapter.ts";
import type { StorageUploads, UploadKey, UploadState } from "../../contracts/storage-uploads.ts";
import { createReceivedContent, hasBytes } from "./compare.ts";
import type { VersionInternals } from "./internals.ts";
import {
  createFileReplacement,
  type FileReplacement,
  hasVersions,
  isVersioned,
  runFileReplacement,
} from "./replacement.ts";

/** Creates `write` of a storage with versions. */
export function createVersionsWrite(internals: VersionInternals): StorageAdapter["write"] {
  const { storage } = internals;

  /** Yields content, and keeps what is at the path after its last chunk. */
  async function* watch(
    path: string,
    content: AsyncIterable<Uint8Array>,
    announced: number | undefined,
    replacement: FileReplacement,
  ): AsyncGenerator<Uint8Array> {
    const before = await storage.stat(path);
    const mayBeEqual =
      before !== undefined && hasVersions(internals, before) && (announced ?? before.size) === before.size;
    const received = createReceivedContent(mayBeEqual ? before.size : undefined);
    for await (const chunk of content) {
      received.add(chunk);
      yield chunk;
    }
    // Content of another size than announced is refused.
    if (announced !== undefined && announced !== received.size()) return;
    await replacement.begin(({ size }) => received.isIn(storage, path, size));
  }

  return async (path, content, options = {}) => {
    if (!isVersioned(path)) return storage.write(path, content, options);
    const replacement = createFileReplacement(internals, path, options);
    const watched = watch(path, content, options.size, replacement);
    return runFileReplacement(replacement, () => storage.write(path, watched, options), toSelf);
  };
}

/** Creates the uploads of a storage with versions. What an upload replaces is kept when it is complete. */
export function createVersionsUploads(internals: VersionInternals, uploads: StorageUploads): StorageUploads {
  const { storage } = internals;

  /** Whether the bytes of some uploads, one after the other, are those of the present file. */
  async function areIn(path: string, present: StorageEntry, states: readonly UploadState[]): Promise<boolean> {
    const { read } = uploads;
    const size = states.reduce((sum, { offset }) => sum + offset, 0);
    if (read === undefined || size !== present.size) return false;
    async function* content(): AsyncGenerator<Uint8Array> {
      for (const { key } of states) yield* (read as (key: UploadKey) => AsyncIterable<Uint8Array>).call(uploads, key);
    }
    return hasBytes(storage, path, content()).catch((error: unknown) => {
      // Another process has completed or ended an upload meanwhile: the completion or the join says which.
      if (!hasCode(error, "not-found")) throw error;
      return false;
    });
  }

  async function complete(
    ...[key, options = {}]: Parameters<StorageUploads["complete"]>
  ): ReturnType<StorageUploads["complete"]> {
    const state = await uploads.find(key);
    const isReady = state?.done === undefined && (state?.size ?? state?.offset) === state?.offset;
    if (state === undefined || !isReady) return uploads.complete(key, options);
    const path = options.path ?? state.path;
    const replacement = createFileReplacement(internals, path, options);
    const act = async (): Promise<StorageEntry> => {
      await replacement.begin((present) => areIn(path, present, [state]));
      return uploads.complete(key, options);
    };
    return runFileReplacement(replacement, act, toSelf);
  }

  const { join, ...others } = handOnUploads(uploads);
  return {
    ...others,
    complete,
    ...(join && {
      async join(keys, path, options = {}) {
        if (!isVersioned(path)) return join(keys, path, options);
        const replacement = createFileReplacement(internals, path, options);
        const act = async (): Promise<StorageEntry> => {
          const states = await Promise.all(keys.map((key) => uploads.find(key)));
          const found = states.filter((state) => state !== undefined);
          await replacement.begin(async (present) => found.length === keys.length && areIn(path, present, found));
          return join(keys, path, options);
        };
        return runFileReplacement(replacement, act, toSelf);
      },
    }),
  };
}

function toSelf(entry: StorageEntry): StorageEntry {
  return entry;
}
