import type { AccountUpload } from "../../account/uploads/account-uploads.ts";
import type { StorageEntry } from "../../contracts/storage-entry.ts";
import type { UploadService } from "../../request/context.ts";

/** The times of uploads, in seconds. */
export type UploadTimes = Pick<UploadService["times"], "idleSeconds" | "maxSeconds">;

type Known = Pick<AccountUpload, "state" | "note">;

/** When a new upload expires. */
export function toFirstExpiry(now: number, { idleSeconds, maxSeconds }: UploadTimes): Date {
  return new Date(now + 1000 * Math.min(idleSeconds, maxSeconds));
}

/**
 * When an upload expires. Each append renews this, which shows in the time of its last bytes. The expiry of a complete
 * upload is fixed.
 */
export function toExpiry(upload: Known, { idleSeconds, maxSeconds }: UploadTimes): Date {
  const { created, modified, expires } = upload.state;
  if (findFinishedFile(upload) !== undefined) return expires;
  const renewed = Math.max(expires.getTime(), modified.getTime() + 1000 * idleSeconds);
  return new Date(Math.min(renewed, created.getTime() + 1000 * maxSeconds));
}

/** Whether an upload has expired at a time in POSIX milliseconds. */
export function isExpired(upload: Known, times: UploadTimes, now: number): boolean {
  return toExpiry(upload, times).getTime() <= now;
}

/** Whether an upload has become a file, and no event of that was emitted: the process that made it ended before. */
export function isUnreported({ state, note }: Known): boolean {
  return state.done !== undefined && note.joined === undefined && note.isReported !== true;
}

/** The file that an upload has become; `undefined` if it is not complete. */
export function findFinishedFile({
  state,
  note,
}: Known): (Pick<StorageEntry, "size" | "modified"> & { readonly etag?: string }) | undefined {
  const { joined } = note;
  if (joined === undefined) return state.done;
  return { ...joined, modified: new Date(joined.modified) };
}
