import type { FileService, RequestHandler } from "../contracts/file-service.ts";
import { checkOption } from "../contracts/option-error.ts";

/** The one API variant to answer with, where it is not all three. */
export type Api = "rest" | "webdav" | "browser";

/** Checks a variant. @throws TypeError for one that there is not. */
export function checkApi(api: Api | undefined): void {
  checkOption(api === undefined || ["rest", "webdav", "browser"].includes(api), "api", "rest, webdav or browser");
}

/** The handler of a service, or a handler as it is. @throws TypeError for a variant that there is not, and for any of a handler. */
export function toRequestHandler(service: FileService | RequestHandler, api: Api | undefined): RequestHandler {
  checkApi(api);
  if (typeof service !== "function") {
    const name = api ?? "fetch";
    return (request, connection) => service[name](request, connection);
  }
  checkOption(api === undefined, "api", "left out: a handler has only one");
  return service;
}

/** Whether a request is the service's: all are a handler's, none is without a URL, nor of a service that cannot tell. */
export function isOurs(service: FileService | RequestHandler, request: Request | undefined): boolean {
  if (request === undefined) return false;
  if (typeof service === "function") return true;
  try {
    return service.handles(request);
  } catch {
    return false;
  }
}
