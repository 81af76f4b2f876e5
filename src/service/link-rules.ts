import { createError } from "../http/errors.ts";
import type { AccountContext, AccountEndpoint } from "../request/context.ts";
import type { ResourceKind } from "./resolve-url.ts";

/** The methods of files and folders that a drop folder has, besides those that read its root (SHARING 6.2). */
const UPLOADING: readonly string[] = ["PUT", "POST", "MKCOL"];
const READING: readonly string[] = ["GET", "HEAD", "PROPFIND"];

/**
 * Rejects what a link never permits: moves, and in a drop folder everything that could show what is there. It does so
 * before anything is looked up, so that all refusals are the same.
 */
export function withLinkRules(kind: ResourceKind, endpoint: AccountEndpoint): AccountEndpoint {
  return async (context) => {
    const isFileUrl = kind === "file" || kind === "folder";
    if (context.method === "MOVE" || (isFileUrl && isHidden(context))) throw createError("denied");
    return endpoint(context);
  };
}

function isHidden({ method, path, link }: AccountContext): boolean {
  if (link?.isDropFolder !== true || UPLOADING.includes(method)) return false;
  return path.segments.length > 0 || !READING.includes(method);
}
