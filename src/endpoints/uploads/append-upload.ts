import type { AccountUpload } from "../../account/uploads/account-uploads.ts";
import { createError } from "../../http/errors.ts";
import type { Reply } from "../../http/reply.ts";
import { hasContent } from "../../http/request-body.ts";
import { agreeOnLength } from "../../http/uploads/length.ts";
import type { UploadAppend } from "../../http/uploads/request-types.ts";
import { readUploadAppend } from "../../http/uploads/requests.ts";
import type { AccountContext } from "../../request/context.ts";
import { appendBody, createOffsetMismatch, toExpectedDigests } from "../../transfers/uploads/append.ts";
import { findFinishedFile } from "../../transfers/uploads/expiry.ts";
import { checkAnnounced } from "../../transfers/uploads/limits.ts";
import { requireUpload, requireUploads } from "../../transfers/uploads/requirements.ts";
import { finishUpload } from "./finish-upload.ts";
import { appendedReply, toKnownOffset } from "./responses.ts";
import { toUploadId } from "./upload-url.ts";

/**
 * `PATCH /home/__svc__/uploads/<id>`: adds content to an upload (RESUMABLE 3.5, 4.4). Everything that can be refused by
 * the header fields is refused before the content is read.
 */
export async function appendUpload(context: AccountContext): Promise<Reply> {
  const demand = readUploadAppend(context.request);
  const upload = await requireUpload(context, toUploadId(context));
  const { note } = upload;
  if (note.protocol !== demand.protocol) throw createError("upload-protocol-mismatch");
  if (note.joined !== undefined) throw createError("upload-joined");
  if (findFinishedFile(upload) !== undefined) return appendToComplete(context, upload, demand);
  await requireUploads(context).uploads.checkAccess(upload);
  const sized = await takeLength(context, upload, demand);
  const isEmpty = demand.announced === 0 && toExpectedDigests(demand).length === 0;
  const appended = isEmpty ? sized : await appendBody(context, sized, demand);
  const isComplete = demand.protocol === "draft" && demand.isComplete;
  return appendedReply(context, await finishUpload(context, appended, { isRequested: isComplete }));
}

/** Checks the offset and the lengths of a request. Keeps a length that no earlier request has announced. */
async function takeLength(
  context: AccountContext,
  upload: AccountUpload,
  demand: UploadAppend,
): Promise<AccountUpload> {
  const { offset, size } = upload.state;
  if (demand.offset !== offset) throw createOffsetMismatch(offset, demand.offset);
  const maxBytes = context.account.maxFileBytes ?? Number.POSITIVE_INFINITY;
  const length = agreeOnLength(demand, { size, maxBytes });
  checkAnnounced(context, demand);
  if (length === undefined || length === size) return upload;
  return requireUploads(context).uploads.update(upload, { size: length });
}

/** The file is there. A client that has lost the last response asks again with an empty request. */
async function appendToComplete(context: AccountContext, upload: AccountUpload, demand: UploadAppend): Promise<Reply> {
  const offset = toKnownOffset(upload);
  if (demand.offset !== offset) throw createOffsetMismatch(offset, demand.offset);
  const isTus = demand.protocol === "tus";
  const isRepeated = (isTus || demand.isComplete) && (demand.length ?? offset) === offset;
  if (!isRepeated || (await hasContent(context.request))) {
    throw createError(isTus ? "upload-too-long" : "upload-completed");
  }
  return appendedReply(context, { upload, isComplete: true });
}
