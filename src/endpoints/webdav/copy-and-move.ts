import type { InspectedEntry } from "../../account/file-attributes.ts";
import type { ResourcePath } from "../../account/path.ts";
import { toStrongTag } from "../../contracts/entity-tags.ts";
import { hasCode, StorageError } from "../../contracts/storage-adapter.ts";
import { evaluatePreconditions, isConditionalChange } from "../../http/conditional.ts";
import { createError } from "../../http/errors.ts";
import { isHttpError } from "../../http/http-error.ts";
import { emptyReply, type Reply } from "../../http/reply.ts";
import { hasContent } from "../../http/request-body.ts";
import type { Target } from "../../http/request-target.ts";
import { toValidators } from "../../http/validators.ts";
import type { AccountContext } from "../../request/context.ts";
import { addSenderFromHeader } from "../../transfers/links/sent-file.ts";
import { acquireTransfer } from "../../transfers/too-many-transfers.ts";
import { parseDepth } from "../../webdav/depth.ts";
import { parseDestination } from "../../webdav/destination.ts";
import { mayOverwrite } from "../../webdav/overwrite.ts";
import { warnOfDestination } from "./destination-warning.ts";
import { parseOwnPath, toOwnHosts } from "./own-path.ts";
import { toContentLocation, toHref } from "./resource.ts";

/** `COPY` (RFC 4918 9.8). With depth 0 on a folder, it copies only the folder with its properties. */
export async function copyResource(context: AccountContext): Promise<Reply> {
  return copyOrMove(context, "copy");
}

/** `MOVE` (RFC 4918 9.9). */
export async function moveResource(context: AccountContext): Promise<Reply> {
  return copyOrMove(context, "move");
}

async function copyOrMove(context: AccountContext, verb: "copy" | "move"): Promise<Reply> {
  const { request, path, files } = context;
  const { headers, signal } = request;
  if (await hasContent(request)) throw createError("body-unexpected");
  const replace = mayOverwrite(headers);
  const to = toNewPath(context, verb);
  const found = await files.inspect(path.segments);
  const isFolder = found?.entry.kind === "folder";
  if (found !== undefined && path.isFolder && !isFolder) throw new StorageError("not-found");
  const depth = isFolder ? parseDepth(verb === "copy" ? "COPY" : "MOVE", headers) : "infinity";
  const condition = found && toCondition(context, found);
  // A file may replace a folder, whose URL ends in a slash, but cannot be created with such a URL.
  const isFile = found !== undefined && !isFolder;
  if (to.isFolder && isFile && (await files.kindOf(to.segments)) !== "folder") throw new StorageError("not-a-folder");
  const onRead = (): void => acquireTransfer(context);
  const options = { replace, signal, onRead, withoutMembers: depth === "0", ...condition };
  const placement = await files[verb](path.segments, to.segments, options).catch(throwOverwriteRefused);
  const fields = toContentLocation(context, isFolder);
  if (placement === "replaced") return emptyReply(204, fields);
  return emptyReply(201, { ...fields, Location: toHref(context, { segments: to.segments, isFolder }) });
}

/**
 * The path that the `Destination` header names.
 * @throws HttpError `denied` if it is not below the root of the request; what `parseDestination` throws.
 */
function readDestination(context: AccountContext): ResourcePath {
  const target = parseOwnDestination(context);
  const path = parseOwnPath(target, context);
  if (path === "outside") throw createError("destination-outside");
  if (path === "malformed") throw createError("destination-header-invalid");
  return path;
}

/** The path of the new file or folder. A copy below a link that asks for it has the name of who makes it. */
function toNewPath(context: AccountContext, verb: "copy" | "move"): ResourcePath {
  const to = readDestination(context);
  return verb === "copy" ? { ...to, segments: addSenderFromHeader(context, to.segments) } : to;
}

function parseOwnDestination(context: AccountContext): Target {
  try {
    return parseDestination(context.request.headers, toOwnHosts(context));
  } catch (error) {
    if (isHttpError(error) && error.failure === "bad-gateway") warnOfDestination(context, error.values ?? {});
    throw error;
  }
}

/**
 * Checks the conditions of the request for the source, and makes sure that only this version is copied or moved.
 * @throws HttpError `denied` if the account may not see what they are about.
 */
function toCondition(
  { request, config }: AccountContext,
  { entry, isVisible }: InspectedEntry,
): { readonly ifMatch?: readonly string[] } {
  if (!isConditionalChange(request)) return {};
  if (!isVisible) throw createError("denied");
  if (evaluatePreconditions(request, toValidators(entry), config.clock()) !== "met") {
    throw new StorageError("precondition-failed");
  }
  const etag = toStrongTag(entry.etag);
  return etag === undefined ? {} : { ifMatch: [etag] };
}

/** Maps `already-exists` to 412: something exists at the destination, and `Overwrite` is `F` (RFC 4918 9.8.5). */
function throwOverwriteRefused(error: unknown): never {
  const isRefused = hasCode(error, "already-exists");
  throw isRefused ? new StorageError("precondition-failed", error.message, { cause: error }) : error;
}
