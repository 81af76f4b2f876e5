import { parseResourcePath, toUrlPath } from "../../account/path.ts";
import { parseTarget } from "../../http/request-target.ts";

/**
 * The path to redirect to after a login. It is rebuilt from the path's segments, so that it cannot lead out of the
 * service (SECURITY 20). Returns `undefined` for anything but a path below `/home/`.
 */
export function toReturnPath(text: string | null, basePath: string): string | undefined {
  const home = `${basePath}/home/`;
  if (!text?.startsWith(home)) return undefined;
  const path = parseResourcePath(parseTarget(text).path.slice(home.length));
  return path && home + toUrlPath(path);
}
