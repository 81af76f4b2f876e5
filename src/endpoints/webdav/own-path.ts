import { parseResourcePath, type ResourcePath } from "../../account/path.ts";
import { decodeSegment } from "../../http/path-segment.ts";
import type { Target } from "../../http/request-target.ts";
import type { AccountContext } from "../../request/context.ts";
import type { OwnHosts } from "../../webdav/reference.ts";

/** The names that the service is reached by in a request. */
export function toOwnHosts({ request, config }: AccountContext): OwnHosts {
  const host = request.headers.get("host") ?? new URL(request.url).host;
  return { host, publicOrigin: config.publicOrigin ?? "" };
}

/**
 * The path that a URL of a header names. `outside` is not below the root of the request: `/home/`, or the link that the
 * request came by.
 */
export function parseOwnPath(
  target: Target,
  { root }: Pick<AccountContext, "root">,
): ResourcePath | "outside" | "malformed" {
  const raw = target.path.split("/").slice(1);
  // The root ends in a slash.
  const names = root.split("/").slice(1, -1).map(decodeSegment);
  const isBelowRoot =
    raw.length > names.length && names.every((name, index) => decodeSegment(raw[index] ?? "") === name);
  return isBelowRoot ? (parseResourcePath(raw.slice(names.length).join("/")) ?? "malformed") : "outside";
}
