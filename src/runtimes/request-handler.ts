import type { Api } from "../contracts/api.ts";
import type { FileService, RequestHandler } from "../contracts/file-service.ts";
import { checkOption } from "../contracts/option-error.ts";

/** Checks an API variant. @throws TypeError for an unknown one. */
export function checkApi(api: Api | undefined): void {
  checkOption(api === undefined || ["rest", "webdav", "browser"].includes(api), "api", "rest, webdav or browser");
}

/**
 * Returns the handler of a service, or a handler unchanged. @throws TypeError for an unknown API, and for any with a
 * handler.
 */
export function toRequestHandler(service: FileService | RequestHandler, api: Api | undefined): RequestHandler {
  checkApi(api);
  if (typeof service !== "function") {
    const name = api ?? "fetch";
    return (request, connection) => service[name](request, connection);
  }
  checkOption(api === undefined, "api", "left out: a handler has only one");
  return service;
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
