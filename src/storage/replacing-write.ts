import type { StorageAdapter, StorageEntry, WriteOptions } from "../contracts/storage-adapter.ts";

/**
 * Writes as `write` of a storage does, and calls `onReplaced` in the step in which the new file takes its place: with
 * what `stat` would have returned just before.
 */
export type ReplacingWrite = (
  path: string,
  content: AsyncIterable<Uint8Array>,
  options: WriteOptions,
  onReplaced: (replaced: StorageEntry | undefined) => void,
) => Promise<StorageEntry>;

interface NotedWrite {
  readonly plain: StorageAdapter["write"];
  readonly replacing: ReplacingWrite;
}

const writes = new WeakMap<StorageAdapter, NotedWrite>();

/** Notes how a storage writes and reports what it replaces. A wrapper of the storage does not have this by itself. */
export function noteReplacingWrite(storage: StorageAdapter, replacing: ReplacingWrite): void {
  writes.set(storage, { plain: storage.write, replacing });
}

/**
 * Returns how a storage writes and reports what it replaces; `undefined` if it does not know that, or if its host has
 * put another `write` in place of its own.
 */
export function findReplacingWrite(storage: StorageAdapter): ReplacingWrite | undefined {
  const noted = writes.get(storage);
  return noted?.plain === storage.write ? noted.replacing : undefined;
}
