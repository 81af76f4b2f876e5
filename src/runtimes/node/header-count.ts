import type { IncomingMessage } from "node:http";

/** How many names and values node:http keeps by default. */
const USUAL_MOST = 2000;

/**
 * How many names and values of a request's headers a node:http server keeps. It silently drops those beyond its
 * `maxHeadersCount`, also a `Content-Length`. Infinity without a bound, and without a server.
 */
export function maxRawHeadersOf(server: object | undefined): number {
  if (server === undefined) return Number.POSITIVE_INFINITY;
  const { maxHeadersCount } = server as { readonly maxHeadersCount?: unknown };
  // As node:http does.
  const most = typeof maxHeadersCount === "number" ? maxHeadersCount << 1 : USUAL_MOST;
  return most > 0 ? most : Number.POSITIVE_INFINITY;
}

/** Whether a request may lack header fields that its client has sent. HTTP/2 refuses those that it does not keep. */
export function mayLackFields({ rawHeaders, httpVersionMajor }: IncomingMessage, most: number): boolean {
  return rawHeaders.length >= most && httpVersionMajor === 1;
}
