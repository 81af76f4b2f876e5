import { decodeSegment } from "../http/path-segment.ts";
import { parseTarget, type Target } from "../http/request-target.ts";

/** The names that the service is reached by. */
export interface OwnHosts {
  /** The `Host` header of the request, or the authority of its URL. */
  readonly host: string;
  /** The option `publicOrigin`; empty if there is none. */
  readonly publicOrigin: string;
}

/** What a URL in a header names. */
export type Reference =
  | { readonly kind: "own"; readonly target: Target }
  /** Something on another host. */
  | { readonly kind: "elsewhere"; readonly host: string }
  | { readonly kind: "malformed" };

const MALFORMED: Reference = { kind: "malformed" };
const ABSOLUTE = /^[a-z][a-z0-9+.-]*:\/\/([^/]*)(.*)$/i;
/** A host and a port, without user information. */
const AUTHORITY = /^(?:[a-z0-9._~!$&'()*+,;=%-]+|\[[0-9a-f:.]+\])(?::\d*)?$/i;

/**
 * Parses a URL of `Destination` or `If` (`Simple-ref`, RFC 4918 8.3): an absolute URI, or an absolute path. Its scheme
 * and its port are ignored, because a proxy may have others than the service. A query is malformed: a name with an
 * unescaped `?` would be cut (WEBDAV 3).
 */
export function parseReference(text: string, own: OwnHosts): Reference {
  const [, authority, rest] = ABSOLUTE.exec(text) ?? [];
  const path = rest ?? text;
  if (authority !== undefined && !AUTHORITY.test(authority)) return MALFORMED;
  if (authority === undefined && !/^\/(?!\/)/.test(text)) return MALFORMED;
  const target = parseTarget(`http://host${path}`);
  if (target.isMalformed || path.includes("?") || target.path.split("/").some(isDotSegment)) return MALFORMED;
  if (authority === undefined) return { kind: "own", target };
  const host = toHostname(authority);
  if (host === undefined) return MALFORMED;
  return hostnamesOf(own).includes(host) ? { kind: "own", target } : { kind: "elsewhere", host };
}

/** The host names of the service, without ports. */
export function hostnamesOf({ host, publicOrigin }: OwnHosts): readonly string[] {
  const names = [toHostname(host), toHostname(publicOrigin.replace(/^.*?:\/\//, ""))];
  return names.filter((name) => name !== undefined);
}

/** The host of an authority in its normal form. */
function toHostname(authority: string): string | undefined {
  const url = `http://${authority}`;
  return authority !== "" && URL.canParse(url) ? new URL(url).hostname : undefined;
}

function isDotSegment(segment: string): boolean {
  const name = decodeSegment(segment);
  return name === "." || name === "..";
}
