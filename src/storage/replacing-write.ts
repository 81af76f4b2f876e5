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

const writes = new WeakMap<StorageAdapter, ReplacingWrite>();

/** Notes how a storage writes and tells what it replaces. A wrapper of the storage does not have it by itself. */
export function noteReplacingWrite(storage: StorageAdapter, write: ReplacingWrite): void {
  writes.set(storage, write);
}

/** Returns how a storage writes and tells what it replaces; `undefined` if it does not know that. */
export function findReplacingWrite(storage: StorageAdapter): ReplacingWrite | undefined {
  return writes.get(storage);
}
