/** The origins that a service is told of. */
export interface KnownOrigins {
  /** Others beside the service's own. */
  readonly acceptedOrigins: readonly string[];
  /** The service's own as its clients have it, where `Host` may say otherwise; else empty. */
  readonly publicOrigin: string;
}

/**
 * Whether an unsafe request that a browser may have sent unasked comes from the service's own pages, from an
 * accepted origin, or from no browser at all (CONTRACT 6.5). Origins are compared whole, never in parts.
 */
export function isSameOrigin(request: Request, { acceptedOrigins, publicOrigin }: KnownOrigins): boolean {
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
  return host !== "" && host === ownHost(request, protocol);
}

/** The host and port that the request was sent to, the port left out where it is the scheme's own. */
function ownHost(request: Request, protocol: string): string | undefined {
  const host = request.headers.get("host");
  const url = host === null ? request.url : `${protocol}//${host}`;
  return URL.canParse(url) ? new URL(url).host : undefined;
}
