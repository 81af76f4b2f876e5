import { type ResourcePath, toUrlPath } from "../account/path.ts";
import { hasCode, StorageError } from "../contracts/storage-adapter.ts";
import { createError } from "../http/errors.ts";
import { isGetOrHead } from "../http/methods.ts";
import type { Reply } from "../http/reply.ts";
import { emptyReply } from "../http/reply.ts";
import type { AccountContext, RequestContext } from "../request/context.ts";
import { redirectReply } from "../views/page.ts";
import { findCreationByPost } from "./uploads/create-upload.ts";

/**
 * Redirects to the URL of a folder and keeps the query: 302 for GET and HEAD, 307 (same method and body) for other
 * methods (4.2, CONTRACT 2.5).
 */
export function redirectToFolder(context: RequestContext, segments: ResourcePath["segments"]): Reply {
  return redirectTo(context, context.root + toUrlPath({ segments, isFolder: true }));
}

function redirectTo(context: RequestContext, path: string): Reply {
  const { request, target, variant, texts } = context;
  const reads = isGetOrHead(request.method);
  const location = target.query === "" ? path : `${path}?${target.query}`;
  if (reads && variant === "html") return redirectReply(context, 302, location, texts.moved);
  return emptyReply(reads ? 302 : 307, { Location: location });
}

/** Redirects to the folder if an error says that the URL lacks its trailing `/`. @throws any other error. */
export function redirectIfFolder(context: RequestContext, error: unknown): Reply {
  if (hasCode(error, "not-a-file")) return redirectToFolder(context, context.path.segments);
  throw error;
}

/**
 * Rethrows why a folder could not be listed. A URL with a trailing `/` never names a file (CONTRACT 2.5), so a file
 * there is reported as `not-found`.
 */
export function throwNotListed(error: unknown): never {
  const isFile = hasCode(error, "not-a-folder");
  throw isFile ? new StorageError("not-found", "The path is a file, not a folder.", { cause: error }) : error;
}

/** `/` and `/home`: redirects to `/home/` (CONTRACT 2.6). */
export async function redirectHome(context: RequestContext): Promise<Reply> {
  // WebDAV clients do not follow redirects of methods that change something.
  const isChange = isWebdavClient(context) && !isGetOrHead(context.request.method);
  if (isChange) throw createError("method-not-allowed");
  return redirectToFolder(context, []);
}

/** The URL of a link without its `/`: redirects to the page of the link, whether or not there is such a link. */
export async function redirectToLink(context: RequestContext): Promise<Reply> {
  return redirectTo(context, `${context.target.path}/`);
}

/** Whether a request is one of WebDAV, and the service has its methods: then no method but GET and HEAD redirects. */
export function isWebdavClient({ config, variant }: Pick<RequestContext, "config" | "variant">): boolean {
  return config.webdav !== undefined && variant === "webdav";
}

/**
 * `POST` and `MKCOL` on a file's URL are not supported (4.2, 4.5), except for a new upload in several requests. A
 * folder's URL without `/` redirects (CONTRACT 2.5).
 */
export async function folderOnly(context: AccountContext): Promise<Reply> {
  const { path, files } = context;
  const creation = findCreationByPost(context);
  if (creation !== undefined) return creation(context);
  if ((await files.kindOf(path.segments)) === "folder") return redirectToFolder(context, path.segments);
  throw createError("method-not-allowed");
}
