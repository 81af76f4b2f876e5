import type { StorageAdapter, StorageEntry, WriteOptions } from "../contracts/storage-adapter.ts";

/** What a write replaces. */
export interface Replacement {
  /**
   * Whether something may have changed at the path since the write has started. Asked just before the file takes its
   * place: if not, the storage need not look again.
   */
  mayHaveChanged(): boolean;
  /** Called when the file has taken its place, with the size of the file that it has replaced; `undefined` if none. */
  note(size: number | undefined): void;
}

/** Writes as `write` of a storage does, and notes what it replaces. */
export type ReplacingWrite = (
  path: string,
  content: AsyncIterable<Uint8Array>,
  options: WriteOptions,
  replacement: Replacement,
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
