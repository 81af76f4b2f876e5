import { toStrongTag } from "../contracts/entity-tags.ts";
import { type RemoveOptions, StorageError } from "../contracts/storage-adapter.ts";
import { evaluatePreconditions, isConditionalChange } from "../http/conditional.ts";
import { createError } from "../http/errors.ts";
import type { Reply } from "../http/reply.ts";
import { emptyReply } from "../http/reply.ts";
import { hasContent } from "../http/request-body.ts";
import { toValidators } from "../http/validators.ts";
import type { AccountContext } from "../request/context.ts";
import { parseDepth } from "../webdav/depth.ts";
import { isWebdavClient, redirectIfFolder } from "./trailing-slash.ts";
import { withFolderLocation } from "./webdav/resource.ts";

/** `DELETE /home/<path>` and `/home/<folder>/`: removes a file, or a folder with everything under it (4.2, 4.5). */
export async function deletePath(context: AccountContext): Promise<Reply> {
  const { path, files, request } = context;
  if (!isWebdavClient(context)) return remove(context);
  if (await hasContent(request)) throw createError("body-unexpected");
  // WebDAV clients send the URL of a folder without its slash, and do not follow redirects (RFC 4918 5.2).
  const isCollection = !path.isFolder && (await files.kindOf(path.segments)) === "folder";
  if (path.isFolder || isCollection) parseDepth("DELETE", request.headers);
  if (!isCollection) return remove(context);
  const reply = await remove({ ...context, path: { segments: path.segments, isFolder: true } });
  return withFolderLocation(reply, context);
}

async function remove(context: AccountContext): Promise<Reply> {
  const { path, files, link } = context;
  let conditions: RemoveOptions;
  try {
    conditions = await checkConditions(context);
  } catch (error) {
    return redirectIfFolder(context, error);
  }
  // Below a link everything goes to the trash of the account.
  const permanent = link === undefined && context.request.headers.get("x-permanent") === "1";
  let trash: string | undefined;
  const onTrashed = (id: string): void => {
    trash = id;
  };
  await files.remove(path.segments, path.isFolder ? "folder" : "file", { ...conditions, permanent, onTrashed });
  return emptyReply(204, trash === undefined || link !== undefined ? {} : { "Trash-Id": trash });
}

/** Evaluates the conditions of a request for what exists now, and makes sure that only this version is removed. */
async function checkConditions({ request, path, files, config }: AccountContext): Promise<RemoveOptions> {
  const entry = await files.stat(path.segments, path.isFolder ? "delete-folder" : "delete-file");
  const isConditional = isConditionalChange(request);
  // Otherwise a file that appears after this would be removed although its conditions were never checked.
  if (entry === undefined && isConditional) throw new StorageError("not-found");
  if (entry === undefined) return {};
  if (evaluatePreconditions(request, toValidators(entry), config.clock()) !== "met") {
    throw new StorageError("precondition-failed");
  }
  const etag = toStrongTag(entry.etag);
  return !isConditional || etag === undefined ? {} : { ifMatch: [etag] };
}
