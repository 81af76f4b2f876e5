import type { Reply } from "../../http/reply.ts";
import type { AccountContext } from "../../request/context.ts";
import { createFolder } from "../folders/create-folder.ts";
import { folderOnly } from "../trailing-slash.ts";
import { withFolderLocation } from "./resource.ts";

/** `MKCOL` of a URL without a slash at its end, which WebDAV clients send (RFC 4918 9.3). */
export async function createCollection(context: AccountContext): Promise<Reply> {
  if (context.variant !== "webdav") return folderOnly(context);
  return withFolderLocation(await createFolder(context), context);
}
