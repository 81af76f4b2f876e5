import type { FileService, RequestHandler } from "../contracts/file-service.ts";

/** The one API variant to answer with, where it is not all three. */
export type Variant = "rest" | "webdav" | "browser";

/** Checks a variant. @throws TypeError for one that there is not. */
export function checkVariant(variant: Variant | undefined): void {
  if (variant !== undefined && !["rest", "webdav", "browser"].includes(variant)) {
    throw new TypeError("variant: expected rest, webdav or browser");
  }
}

/** The handler of a service, or a handler as it is. @throws TypeError for a variant that there is not, and for any of a handler. */
export function toRequestHandler(service: FileService | RequestHandler, variant: Variant | undefined): RequestHandler {
  checkVariant(variant);
  if (typeof service !== "function") {
    const name = variant ?? "fetch";
    return (request, connection) => service[name](request, connection);
  }
  if (variant !== undefined) throw new TypeError("variant: a handler has none");
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
