import { StorageError } from "../../contracts/storage-adapter.ts";
import type { Reply } from "../../http/reply.ts";
import { emptyReply } from "../../http/reply.ts";
import { readUploadAccess } from "../../http/uploads/requests.ts";
import type { AccountContext } from "../../request/context.ts";
import { emitUploadDone, emitUploadFailed, UPLOAD_CANCELLED } from "../../transfers/uploads/events.ts";
import { findFinishedFile, isUnreported } from "../../transfers/uploads/expiry.ts";
import { requireUpload, requireUploads } from "../../transfers/uploads/requirements.ts";
import { toKnownOffset } from "./responses.ts";
import { toUploadId } from "./upload-url.ts";

/**
 * `DELETE /home/__svc__/uploads/<id>`: ends an upload and frees its bytes. A file that it has become stays (RESUMABLE
 * 3.9).
 */
export async function endUpload(context: AccountContext): Promise<Reply> {
  readUploadAccess(context.request);
  const id = toUploadId(context);
  // Not while it becomes a file: what ends then is the record of that file.
  return requireUploads(context).service.withLock(id, () => discardUpload(context, id));
}

async function discardUpload(context: AccountContext, id: string): Promise<Reply> {
  const upload = await requireUpload(context, id);
  const discarded = await requireUploads(context).uploads.discard(upload.id);
  if (discarded === undefined) throw new StorageError("not-found");
  if (findFinishedFile(upload) !== undefined) {
    if (isUnreported(upload)) emitUploadDone(context, upload, toKnownOffset(upload));
  } else if (discarded === "unfinished") emitUploadFailed(context, upload, UPLOAD_CANCELLED);
  return emptyReply(204);
}
