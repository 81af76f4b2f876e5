import { parseResourcePath, RESERVED_NAME, type ResourcePath, toUrlPath } from "../../account/path.ts";
import { parseTarget } from "../../http/request-target.ts";

/** What the queries of our own pages say. Others, such as the message of a form, are not kept. */
const KEPT = ["inline", "member", "order", "path", "q", "sort", "zip"];

/**
 * The path to redirect to after a login. It is rebuilt from the path's segments, so that it cannot lead out of the
 * service (SECURITY 20). Returns `undefined` for anything but a path below `/home/`.
 */
export function toReturnPath(text: string | null, basePath: string): string | undefined {
  const home = `${basePath}/home/`;
  if (!text?.startsWith(home)) return undefined;
  const target = parseTarget(text);
  const path = parseResourcePath(target.path.slice(home.length));
  return path && home + toUrlPath(path) + toKeptQuery(target.query);
}

/**
 * The path and query that a request without a login is led back to. An API key has no page of its own: the form that
 * revokes it leads to the list.
 */
export function toReturnUrl(basePath: string, { segments, isFolder }: ResourcePath, query: string): string {
  const [root, kind] = segments;
  const isKey = root === RESERVED_NAME && kind === "keys";
  const path = { segments: isKey ? [root, kind] : segments, isFolder };
  return `${basePath}/home/${toUrlPath(path)}${toKeptQuery(query)}`;
}

/** The part of a query that a login leads back to, with its `?`. */
export function toKeptQuery(query: string): string {
  const kept = [...new URLSearchParams(query)].filter(([name]) => KEPT.includes(name));
  return kept.length === 0 ? "" : `?${new URLSearchParams(kept)}`;
}
