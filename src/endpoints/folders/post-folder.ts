import { createError } from "../../http/errors.ts";
import { mediaType } from "../../http/negotiate.ts";
import type { Reply } from "../../http/reply.ts";
import type { AccountContext } from "../../request/context.ts";
import { findCreationByPost } from "../uploads/create-upload.ts";
import { postCommands } from "./post-commands.ts";
import { postForm } from "./post-form.ts";

/** `POST /home/<folder>/`: commands as JSON (4.3), a browser's form (4.6), or a new upload in several requests. */
export async function postFolder(context: AccountContext): Promise<Reply> {
  const creation = findCreationByPost(context);
  if (creation !== undefined) return creation(context);
  switch (mediaType(context.request.headers.get("content-type"))) {
    case "application/json":
      return postCommands(context);
    case "multipart/form-data":
      return postForm(context);
    default:
      throw createError("folder-post-media-type");
  }
}
