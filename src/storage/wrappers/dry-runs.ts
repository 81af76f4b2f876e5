import type { Trash } from "../../contracts/kept/trash.ts";
import type { Versions } from "../../contracts/kept/versions.ts";
import type { StorageAdapter, StoredFile } from "../../contracts/storage-adapter.ts";

/** What takes the place of storages in a dry run. For the same storage it is always the same. */
export interface DryRun {
  /** Returns a storage that looks like another one, and whose changes only this dry run sees. */
  storage(storage: StorageAdapter): StorageAdapter;
  trash(trash: Trash): Trash;
  versions(versions: Versions): Versions;
}

/** Makes what takes the place of something in a dry run. */
export type MakeDry<T> = (dry: DryRun) => T;

const makers = new WeakMap<object, MakeDry<object>>();

/**
 * Notes how a storage that is made of others, its trash or its versions are made again over what takes the place of the
 * others. So a dry run of it is its own code.
 */
export function noteDryRun<T extends object>(original: T, make: MakeDry<T>): void {
  makers.set(original, make);
}

/** Returns what {@link noteDryRun} has noted. */
export function findDryRun<T extends object>(original: T): MakeDry<T> | undefined {
  return makers.get(original) as MakeDry<T> | undefined;
}

const unread = new WeakSet<StoredFile | ArrayBufferLike>();

/** Notes a file that a dry run has opened. Its copy needs no bytes but only as many as it has. */
export function noteUnread(file: StoredFile): void {
  unread.add(file);
}

/** Whether a dry run has opened a file, or the bytes of a buffer stand for those of such a file. */
export function isUnread(content: StoredFile | ArrayBufferLike): boolean {
  return unread.has(content);
}

/** Chunks are as large as that, because the number of chunks is what a large file costs. */
const CHUNK_BYTES = 8 * 1024 ** 2;

/** Yields as many bytes as a file has, for its copy in a dry run. They are taken to be equal to no others. */
export async function* toUnreadContent(size: number): AsyncGenerator<Uint8Array> {
  const chunk = new Uint8Array(Math.min(size, CHUNK_BYTES));
  unread.add(chunk.buffer);
  for (let at = 0; at < size; at += CHUNK_BYTES) yield chunk.subarray(0, size - at);
}
