import { StorageError } from "../../contracts/storage-adapter.ts";
import { createError } from "../../http/errors.ts";
import type { Reply } from "../../http/reply.ts";
import { emptyReply } from "../../http/reply.ts";
import { hasContent } from "../../http/request-body.ts";
import type { AccountContext } from "../../request/context.ts";
import { makeFolder } from "./make-folder.ts";

/** `PUT /home/<folder>/` and `MKCOL`: creates a folder whose parent exists (4.2, 4.5). */
export async function createFolder(context: AccountContext): Promise<Reply> {
  const { request, path } = context;
  // RFC 4918 9.3: a body that the server does not understand is rejected.
  if (await hasContent(request)) throw createError("body-unexpected");
  if (path.segments.length === 0) throw new StorageError("already-exists");
  await makeFolder(context, path.segments);
  return emptyReply(201);
}
