import { StorageError } from "../../contracts/storage-adapter.ts";
import { createError } from "../../http/errors.ts";
import type { Reply } from "../../http/reply.ts";
import { emptyReply } from "../../http/reply.ts";
import { hasContent } from "../../http/request-body.ts";
import type { AccountContext } from "../../request/context.ts";

/** `PUT /home/<folder>/` and `MKCOL`: creates a folder whose parent exists (4.2, 4.5). */
export async function createFolder({ request, path, files }: AccountContext): Promise<Reply> {
  // RFC 4918 9.3: a body that the server does not understand is rejected.
  if (await hasContent(request)) throw createError("body-unexpected");
  if (path.segments.length === 0) throw new StorageError("already-exists");
  await files.createFolder(path.segments);
  return emptyReply(201);
}
