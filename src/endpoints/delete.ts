import { toUrlPath } from "../account/path.ts";
import { type RemoveOptions, StorageError } from "../contracts/storage-adapter.ts";
import { evaluatePreconditions, isConditionalChange } from "../http/conditional.ts";
import type { Reply } from "../http/reply.ts";
import { emptyReply } from "../http/reply.ts";
import { toValidators } from "../http/validators.ts";
import type { AccountContext } from "../request/context.ts";
import { redirectIfFolder } from "./trailing-slash.ts";

/** `DELETE /home/<path>` and `/home/<folder>/`: removes a file, or a folder with everything under it (4.2, 4.5). */
export async function deletePath(context: AccountContext): Promise<Reply> {
  const { path, files } = context;
  // WebDAV clients send the URL of a folder without its slash, and do not follow redirects (RFC 4918 5.2).
  if (context.config.webdav !== undefined && context.variant === "webdav" && !path.isFolder) {
    if ((await files.kindOf(path.segments)) === "folder") return deleteCollection(context);
  }
  let conditions: RemoveOptions;
  try {
    conditions = await toConditions(context);
  } catch (error) {
    return redirectIfFolder(context, error);
  }
  await files.remove(path.segments, path.isFolder ? "folder" : "file", conditions);
  return emptyReply(204);
}

async function deleteCollection(context: AccountContext): Promise<Reply> {
  const { segments } = context.path;
  const reply = await deletePath({ ...context, path: { segments, isFolder: true } });
  const location = `${context.config.basePath}/home/${toUrlPath({ segments, isFolder: true })}`;
  return { ...reply, headers: [...reply.headers, ["Content-Location", location]] };
}

/** Evaluates the conditions of a request for what exists now, and makes sure that only this version is removed. */
async function toConditions({ request, path, files, config }: AccountContext): Promise<RemoveOptions> {
  const entry = await files.stat(path.segments, path.isFolder ? "delete-folder" : "delete-file");
  const isConditional = isConditionalChange(request);
  // Otherwise a file that appears after this would be removed although its conditions were never checked.
  if (entry === undefined && isConditional) throw new StorageError("not-found");
  if (entry === undefined) return {};
  if (evaluatePreconditions(request, toValidators(entry), config.clock()) !== "met") {
    throw new StorageError("precondition-failed");
  }
  const { etag } = entry;
  return !isConditional || etag === undefined || etag.startsWith("W/") ? {} : { ifMatch: [etag] };
}
