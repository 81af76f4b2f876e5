import type { Reply } from "../../http/reply.ts";
import { readUploadAccess } from "../../http/uploads/requests.ts";
import type { AccountContext } from "../../request/context.ts";
import { requireUpload } from "../../transfers/uploads/requirements.ts";
import { finishUpload } from "./finish-upload.ts";
import { shownReply } from "./responses.ts";
import { toUploadId } from "./upload-url.ts";

/**
 * `HEAD /home/__svc__/uploads/<id>`: says how much of an upload is kept (RESUMABLE 3.4, 4.6). A tus upload that has all
 * its bytes is completed first, as its client considers it complete.
 */
export async function showUpload(context: AccountContext): Promise<Reply> {
  const access = readUploadAccess(context.request);
  const upload = await requireUpload(context, toUploadId(context));
  const { upload: finished } = await finishUpload(context, upload, { isRequested: false });
  return shownReply(context, finished, access);
}
