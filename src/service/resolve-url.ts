import { parseResourcePath, RESERVED_NAME, type ResourcePath } from "../account/path.ts";
import { isUploadId } from "../endpoints/uploads/upload-url.ts";
import { decodeSegment } from "../http/path-segment.ts";
import type { Target } from "../http/request-target.ts";

/** What kind of resource a URL names, before the storage is asked. */
export type ResourceKind =
  /** `/` and `/home`, which lead to the home folder. */
  | "start"
  | "file"
  | "folder"
  | "login"
  | "logout"
  /** Logins at another site: their start, and where the other site sends the browser back to. */
  | "sign-on"
  | "sign-on-callback"
  | "password-update"
  | "account"
  | "quota"
  | "trash"
  /** The list of the versions of a file, which the query names. */
  | "versions"
  | "version"
  /** The end of a download that another server sends. */
  | "offload"
  | "upload"
  | "uploads"
  /** The URL of a link without its `/`. */
  | "share"
  | "keys"
  | "key"
  | "links"
  | "new-link"
  | "link"
  | "asset"
  | "health"
  | "openapi"
  | "api-page";

/** What the URL of a request names. */
export interface ResolvedUrl {
  /**
   * `unknown` is below the service's own namespace, `malformed` cannot be parsed, `outside` is not in the URL space.
   */
  readonly kind: ResourceKind | "unknown" | "malformed" | "outside";
  /**
   * The path below `/home/` or a link, and the root for other URLs. It names something in the account only for `file`
   * and `folder`. The path of an upload's URL ends with its id.
   */
  readonly path: ResourcePath;
  /** The token of the link that the URL is below. */
  readonly token?: string;
  /** Whether the URL is that of the account's links, or below it. */
  readonly isOfLinks?: true;
}

/** The other name of the OpenAPI document in the service description, with four underscores (CONTRACT 2.9). */
const OPENAPI_ALIAS = "____svc__";
const ROOT: ResourcePath = { segments: [], isFolder: true };

/** Whether a service has each of the parts that add URLs, and that not every service has. */
export type Additions = Readonly<Record<"keys" | "links" | "sign-on" | "quota" | "trash" | "versions", boolean>>;

/**
 * Finds what a request target names. Returns `undefined` outside the URL space. Compares prefixes by complete decoded
 * segments, never as text (SECURITY 2).
 */
export function resolveUrl(
  { path, isMalformed }: Target,
  baseSegments: readonly string[],
  additions: Additions,
): ResolvedUrl | undefined {
  const raw = path.split("/").slice(1);
  if (!baseSegments.every((segment, index) => decodeSegment(raw[index] ?? "") === segment)) return undefined;
  const [first = "", ...rest] = raw.slice(baseSegments.length);
  const name = decodeSegment(first);
  const isAlias = name === OPENAPI_ALIAS && rest.join("/") === "openapi.yaml";
  if (!isAlias && name !== "" && name !== "home" && name !== "__svc__") return undefined;
  const isShared = name === "__svc__" && additions.links && rest[0] === "share" && rest.length > 1;
  const shared = isShared ? toShared(rest.slice(1)) : undefined;
  const ofLinks = additions.links && name === "home" && isLinkList(rest) ? ({ isOfLinks: true } as const) : undefined;
  if (isMalformed) return { ...shared, ...ofLinks, kind: "malformed", path: ROOT };
  if (isAlias) return { kind: "openapi", path: ROOT };
  if (shared !== undefined) return shared;
  if (name === "__svc__") return { kind: toServiceKind(rest.join("/"), additions), path: ROOT };
  if (rest.length === 0) return { kind: "start", path: ROOT };
  if (name === "") return undefined;
  const found = parseResourcePath(rest.join("/"));
  if (found === undefined) return { kind: "malformed", path: ROOT, ...ofLinks };
  return { kind: toHomeKind(found, additions), path: found, ...ofLinks };
}

/** Whether a path below `/home/` is that of the account's links, also if it is malformed after that. */
function isLinkList([first = "", second = ""]: readonly string[]): boolean {
  return decodeSegment(first) === RESERVED_NAME && /^links(?:$|[^!"$-~])/.test(decodeSegment(second) ?? second);
}

/** Below a link are files and folders, as below `/home/`, and the uploads by the link (SHARING 1). */
function toShared([first = "", ...rest]: readonly string[]): ResolvedUrl {
  const token = decodeSegment(first) ?? "";
  if (token === "") return { kind: "unknown", path: ROOT, token };
  if (rest.length === 0) return { kind: "share", path: ROOT, token };
  const path = parseResourcePath(rest.join("/"));
  if (path === undefined) return { kind: "malformed", path: ROOT, token };
  const [reserved, second] = path.segments;
  if (reserved === RESERVED_NAME && second === "uploads") return { kind: toUploadKind(path), path, token };
  return { kind: path.isFolder ? "folder" : "file", path, token };
}

/** Below `/home/` are the account's files and folders, and some URLs of the service (4.1). */
function toHomeKind(path: ResourcePath, additions: Additions): ResolvedUrl["kind"] {
  const { segments, isFolder } = path;
  const [first, second = ""] = segments;
  if (first === RESERVED_NAME && second === "uploads") return toUploadKind(path);
  if (first === RESERVED_NAME && second === "links" && additions.links) return toLinkKind(path);
  if (isFolder) return "folder";
  const kept = first === RESERVED_NAME ? toKeptKind(segments, additions) : undefined;
  if (kept !== undefined) return kept;
  const isOwn = segments.length === 2 && first === RESERVED_NAME;
  if (!isOwn) return "file";
  if ((second === "quota" || second === "trash") && additions[second]) return second;
  return second === "password-update" || second === "account" ? second : "file";
}

/** Keys and versions have a URL for the list and a URL for each item. */
function toKeptKind(
  [, name, ...rest]: readonly string[],
  { keys, versions }: Additions,
): ResolvedUrl["kind"] | undefined {
  if (rest.length > 1) return undefined;
  if (name === "keys" && keys) return rest.length === 0 ? "keys" : "key";
  if (name === "versions" && versions) return rest.length === 0 ? "versions" : "version";
  return undefined;
}

function toUploadKind({ segments, isFolder }: ResourcePath): ResolvedUrl["kind"] {
  if (isFolder) return segments.length === 2 ? "uploads" : "unknown";
  return segments.length === 3 && isUploadId(segments[2] ?? "") ? "upload" : "unknown";
}

function toLinkKind({ segments, isFolder }: ResourcePath): ResolvedUrl["kind"] {
  const [, , id, ...more] = segments;
  if (isFolder || more.length > 0) return "unknown";
  if (id === undefined) return "links";
  return id === "new" ? "new-link" : "link";
}

function toServiceKind(name: string, additions: Additions): ResolvedUrl["kind"] {
  if (/^assets\/[^/]+$/.test(name)) return "asset";
  if (/^offload\/[\da-f]{32}$/.test(name)) return "offload";
  const [, step] = (additions["sign-on"] && /^oidc\/[a-z0-9-]+\/(start|callback)$/.exec(name)) || [];
  if (step !== undefined) return step === "start" ? "sign-on" : "sign-on-callback";
  if (name === "openapi.yaml" || name === "openapi.json") return "openapi";
  if (name === "openapi.html") return "api-page";
  return name === "login" || name === "logout" || name === "health" ? name : "unknown";
}
