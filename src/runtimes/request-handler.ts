import type { Api, FileService, RequestHandler } from "../contracts/file-service.ts";
import { checkOption } from "../contracts/option-error.ts";
import { type ReplyHandler, toReplyHandler } from "../http/reply-handler.ts";

/** Checks an API variant. @throws TypeError for an unknown one. */
export function checkApi(api: Api | undefined): void {
  checkOption(api === undefined || ["rest", "webdav", "browser"].includes(api), "api", "rest, webdav or browser");
}

/** Finds the handler of a service for an API. @throws TypeError for an unknown API, or any API of a plain handler. */
export function findHandler(service: FileService | RequestHandler, api: Api | undefined): ReplyHandler {
  checkApi(api);
  if (typeof service !== "function") return toReplyHandler(service[api ?? "fetch"], service);
  checkOption(api === undefined, "api", "left out: a handler has only one");
  return toReplyHandler(service);
}

/**
 * Whether a request belongs to the service: for a handler always, for an invalid request or if `handles` throws never.
 */
export function isOurs(service: FileService | RequestHandler, request: Request | undefined): boolean {
  if (request === undefined) return false;
  if (typeof service === "function") return true;
  try {
    return service.handles(request);
  } catch {
    return false;
  }
}
