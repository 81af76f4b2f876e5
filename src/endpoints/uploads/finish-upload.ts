import type { AccountUpload } from "../../account/uploads/account-uploads.ts";
import { createError } from "../../http/errors.ts";
import type { AccountContext } from "../../request/context.ts";
import { completeResumableUpload, endsUpload } from "../../transfers/uploads/complete.ts";
import { findFinishedFile } from "../../transfers/uploads/expiry.ts";
import { requireUploads } from "../../transfers/uploads/requirements.ts";
import { toRefusalFields, type UploadOutcome } from "./responses.ts";

/** Whether all bytes of an upload by tus are there, and no file yet: its protocol has no other sign of completion. */
export function isReadyToFinish(upload: AccountUpload): boolean {
  const { state, note } = upload;
  const isTusFile = note.protocol === "tus" && note.concat !== "partial";
  return isTusFile && state.offset === state.size && findFinishedFile(upload) === undefined;
}

/**
 * Makes the upload a file if all of it is there: for tus by its length, for the draft if the request says so
 * (`isRequested`).
 * @throws HttpError `malformed` if the request says so and bytes are missing.
 */
export async function finishUpload(
  context: AccountContext,
  upload: AccountUpload,
  { isRequested }: { readonly isRequested: boolean },
): Promise<UploadOutcome> {
  if (!isRequested && !isReadyToFinish(upload)) return { upload, isComplete: false };
  const { size, offset } = upload.state;
  if (size !== undefined && size !== offset) throw createError("upload-length-inconsistent");
  const { uploads } = requireUploads(context);
  if (size === undefined) await uploads.update(upload, { size: offset });
  try {
    const done = await completeResumableUpload(context, upload);
    return { upload: { ...upload, state: { ...upload.state, done } }, isComplete: true };
  } catch (error) {
    const fields = toRefusalFields(upload.note.protocol, endsUpload(context, error));
    context.upload = { ...context.upload, fields: { ...context.upload?.fields, ...fields } };
    throw error;
  }
}
