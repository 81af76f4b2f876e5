import type { Connection } from "../../contracts/connection.ts";
import { isSecure } from "../request-target.ts";

/** The origins that the service's options name. */
export interface KnownOrigins {
  /** Origins in addition to the service's own. */
  readonly acceptedOrigins: readonly string[];
  /** The service's own origin as its clients see it, if `Host` may differ; otherwise empty. */
  readonly publicOrigin: string;
}

/** A request, and whether it came over TLS as far as the service knows. */
interface Arrival {
  readonly request: Request;
  readonly connection: Connection;
}

/**
 * Whether an unsafe request comes from the service's own pages, from an accepted origin, or from a client that is no
 * browser (CONTRACT 6.5). This protects against requests that other sites make a browser send. Origins are compared as
 * a whole, never in parts. A page that came without TLS is not the service's own if the request came over TLS; the
 * reverse may be a proxy that ends TLS.
 */
export function isSameOrigin(
  { request, connection }: Arrival,
  { acceptedOrigins, publicOrigin }: KnownOrigins,
): boolean {
  const { headers } = request;
  const origin = headers.get("origin");
  if (origin !== null && acceptedOrigins.includes(origin)) return true;
  const site = headers.get("sec-fetch-site");
  if (site !== null) return site === "same-origin" || site === "none";
  const source = origin ?? headers.get("referer");
  if (source === null) return true;
  if (!URL.canParse(source)) return false;
  const { protocol, host, origin: sourceOrigin } = new URL(source);
  if (publicOrigin !== "") return sourceOrigin === publicOrigin;
  if (protocol !== "https:" && isSecure(request, connection)) return false;
  return host !== "" && host === ownHost(request, protocol);
}

/** The host and port that the request was sent to, without the default port of the scheme. */
function ownHost(request: Request, protocol: string): string | undefined {
  const host = request.headers.get("host");
  const url = host === null ? request.url : `${protocol}//${host}`;
  return URL.canParse(url) ? new URL(url).host : undefined;
}
