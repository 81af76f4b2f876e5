import { isGetOrHead } from "../../http/methods.ts";
import type { RequestContext } from "../../request/context.ts";
import { toReturnPath } from "./return-path.ts";

/**
 * The URL that asks browsers without cookies for Basic credentials (5.1.2). It is that of the home folder, so that
 * browsers also send the credentials to all URLs below (RFC 7617 2.2).
 */
export function basicLoginPath(basePath: string, returnTo: string | undefined): string {
  const back = returnTo === undefined ? "" : `&return=${encodeURIComponent(returnTo)}`;
  return `${basePath}/home/?login=basic${back}`;
}

/** Whether a request is for the URL of {@link basicLoginPath}. */
export function isBasicLogin({ path, target, variant, request }: RequestContext): boolean {
  const reads = isGetOrHead(request.method);
  if (!reads || variant !== "html" || path.segments.length > 0) return false;
  return new URLSearchParams(target.query).get("login") === "basic";
}

/** The path to redirect to after a successful Basic login. */
export function afterBasicLogin({ target, config }: RequestContext): string {
  return toReturnPath(new URLSearchParams(target.query).get("return"), config.basePath) ?? `${config.basePath}/home/`;
}
