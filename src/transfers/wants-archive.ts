import { prefersArchive } from "../http/negotiate.ts";
import type { RequestContext } from "../request/context.ts";

/**
 * Whether a GET or HEAD of a folder is for its archive: by `Accept`, or by the query `zip`, which browsers send without
 * a script (SHARING 1.2).
 */
export function wantsArchive({ request, target }: RequestContext): boolean {
  return prefersArchive(request) || new URLSearchParams(target.query).has("zip");
}
