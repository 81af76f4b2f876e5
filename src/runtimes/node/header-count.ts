import type { IncomingMessage } from "node:http";

/** How many names and values node:http keeps where its server has no number of its own. */
const USUAL_MOST = 2000;

/**
 * How many names and values of one request's header section a server of node:http keeps: it drops those beyond its
 * `maxHeadersCount` without a word, the `Content-Length` among them. Infinity where the number has no bound, or nobody parses.
 */
export function mostFieldsOf(server: object | undefined): number {
  if (server === undefined) return Number.POSITIVE_INFINITY;
  const { maxHeadersCount } = server as { readonly maxHeadersCount?: unknown };
  // As node:http reckons.
  const most = typeof maxHeadersCount === "number" ? maxHeadersCount << 1 : USUAL_MOST;
  return most > 0 ? most : Number.POSITIVE_INFINITY;
}

/** Whether a request may lack fields that its client has sent. HTTP/2 refuses what it does not keep. */
export function mayLackFields({ rawHeaders, httpVersionMajor }: IncomingMessage, most: number): boolean {
  return rawHeaders.length >= most && httpVersionMajor === 1;
}
