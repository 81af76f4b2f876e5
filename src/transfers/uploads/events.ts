import { toStoragePath } from "../../account/path.ts";
import type { AccountUpload } from "../../account/uploads/account-uploads.ts";
import type { UploadNote } from "../../account/uploads/upload-note.ts";
import type { Scanned, UploadData, WriteTotals } from "../../contracts/events/transfers.ts";
import type { AccountContext } from "../../request/context.ts";
import { emitEvent, toWriteTotals } from "../../request/emit-event.ts";

/** Why a resumable upload has failed, for event 40022, if no error says it. */
export const UPLOAD_CANCELLED = "The upload was cancelled.";

/** Why a resumable upload has failed whose folder was removed or moved. */
export const UPLOAD_LOST = "The folder or the bytes of the upload are gone.";

/** Event 40021. Partial uploads have no events: the file that is made of them has. */
export function emitUploadStarted(context: AccountContext, upload: AccountUpload): void {
  if (!isSilent(upload.note)) emitEvent(context, { id: 40021, data: toUploadData(upload) });
}

/** Event 40017. */
export function emitUploadDone(
  context: AccountContext,
  upload: AccountUpload,
  size: number,
  scanned: Scanned = {},
): void {
  const data = { ...toUploadData(upload), ...toTotals(upload, size, context.config.clock()), ...scanned };
  emitEvent(context, { id: 40017, data });
}

/** Event 40022. */
export function emitUploadFailed(context: AccountContext, upload: AccountUpload, details: string): void {
  if (isSilent(upload.note)) return;
  const totals = toTotals(upload, upload.state.offset, context.config.clock());
  emitEvent(context, { id: 40022, data: { ...toUploadData(upload), ...totals, details } });
}

/** Whether an upload has no events. */
export function isSilent({ concat }: UploadNote): boolean {
  return concat === "partial";
}

/**
 * The file of an upload in the form that events have: by its path in the account, also for an upload by a link. `name`
 * is that of a file that is named later. Default: that of the file, or the one that the client has asked for.
 */
export function toUploadData({ state, note }: AccountUpload, name = state.done?.name): UploadData {
  const { path, metadata, link, isNamedLater } = note;
  const own = [...(link?.root ?? []), ...path];
  const data = metadata === undefined ? {} : { metadata };
  if (isNamedLater !== true) return { path: toStoragePath(own), real_path: state.path, ...data };
  const last = name ?? own.at(-1) ?? "";
  const folder = state.path.slice(0, state.path.lastIndexOf("/") + 1);
  return { path: toStoragePath([...own.slice(0, -1), last]), real_path: `${folder}${last}`, ...data };
}

/** What has arrived since the creation. */
export function toTotals({ state }: AccountUpload, size: number, now: number): WriteTotals {
  return toWriteTotals(size, state.created.getTime(), now);
}
