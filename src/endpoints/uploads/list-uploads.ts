import { toStoragePath } from "../../account/path.ts";
import { StorageError } from "../../contracts/storage-adapter.ts";
import type { Reply } from "../../http/reply.ts";
import { jsonReply } from "../../http/reply.ts";
import { requireTusVersion } from "../../http/uploads/protocol.ts";
import type { AccountContext } from "../../request/context.ts";
import type { UnfinishedUploads } from "../../schemas/uploads.ts";
import { findFinishedFile, isExpired, toExpiry } from "../../transfers/uploads/expiry.ts";
import { requireUploads } from "../../transfers/uploads/requirements.ts";
import { toUploadPath } from "./upload-url.ts";

/**
 * `GET /home/__svc__/uploads/`: the unfinished uploads of the account (RESUMABLE 1.3). Below a link they are those of
 * all visitors, so they are not there unless the link may list. A link to a file lists nothing but the file.
 */
export async function listUploads(context: AccountContext): Promise<Reply> {
  const { headers } = context.request;
  if (headers.has("tus-resumable")) requireTusVersion(headers);
  const { uploads, service } = requireUploads(context);
  if (!mayList(context)) throw new StorageError("not-found");
  const now = context.config.clock();
  const list: UnfinishedUploads["uploads"][number][] = [];
  for await (const upload of uploads.list()) {
    const { state, note, id } = upload;
    if (findFinishedFile(upload) !== undefined || isExpired(upload, service.times, now)) continue;
    list.push({
      url: toUploadPath(context, id),
      path: toStoragePath(note.path),
      offset: state.offset,
      length: state.size ?? null,
      created: state.created.getTime() / 1000,
      expires: toExpiry(upload, service.times).getTime() / 1000,
    });
  }
  const body: UnfinishedUploads = { uploads: list };
  return jsonReply(200, body);
}

function mayList({ link, account }: AccountContext): boolean {
  return link === undefined || (link.record.isFolder && account.permissions.allows("/", "list"));
}
