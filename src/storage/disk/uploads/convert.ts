import type { BigIntStats } from "node:fs";
import { type StorageEntry, StorageError } from "../../../contracts/storage-adapter.ts";
import type { UploadState } from "../../../contracts/storage-uploads.ts";
import { toEntry } from "../list.ts";
import type { DiskUpload, UploadTarget } from "./states.ts";

/** Identifies the file that an upload becomes. */
export function toTarget(path: string, name: string, stats: BigIntStats): UploadTarget {
  const entry = toEntry(name, stats);
  if (entry === undefined) throw new StorageError("unavailable", "The temporary file is not a regular file.");
  return { path, inode: String(stats.ino), time: String(stats.mtimeNs), entry: toStoredEntry(entry) };
}

/** An entry as a state keeps it. */
export function toStoredEntry(entry: StorageEntry): UploadTarget["entry"] {
  return { ...entry, modified: entry.modified.getTime() };
}

/** The entry of the file that an upload has become. */
export function toFileEntry({ entry }: UploadTarget): StorageEntry {
  return { ...entry, modified: new Date(entry.modified) };
}

/** The state of an upload with the stats of its bytes; without them it is done. */
export function toStateOf(upload: DiskUpload, stats: BigIntStats | undefined): UploadState {
  const { target, checkedTo } = upload;
  if (stats === undefined) return toState(upload, target?.entry.size ?? 0, target?.entry.modified ?? upload.created);
  const size = Number(stats.size);
  const modified = size === 0 ? upload.created : Number(stats.mtimeNs / 1_000_000n);
  return toState(upload, Math.min(size, checkedTo ?? size), modified);
}

/** The state of an upload whose bytes are gone. */
export function toLostState(upload: DiskUpload): UploadState {
  return { ...toState(upload, 0, upload.created), lost: true };
}

/** The state of an upload, with its offset and the time of its last bytes. */
export function toState(upload: DiskUpload, offset: number, modified: number): UploadState {
  const { key, path, size, note, created, expires, isDone, target } = upload;
  return {
    key,
    path,
    offset,
    ...(size !== undefined && { size }),
    note,
    created: new Date(created),
    modified: new Date(modified),
    expires: new Date(expires),
    ...(isDone === true && target !== undefined && { done: toFileEntry(target) }),
  };
}
