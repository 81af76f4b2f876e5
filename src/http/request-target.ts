import type { Connection } from "../contracts/connection.ts";

/** A request's target, still percent-encoded. */
export interface Target {
  /** The raw path, which begins with `/`. */
  readonly path: string;
  /** The raw query without its `?`; empty if there is none. */
  readonly query: string;
  /**
   * Whether the target has characters that are not allowed in it: a fragment, or anything but printable ASCII (RFC 9112
   * 3.2).
   */
  readonly isMalformed: boolean;
}

/**
 * Splits a request's URL as text. `new URL` would resolve `..` and `%2e%2e`, so the path that is checked would not be
 * the path that the client sent (CONTRACT 2.1).
 */
export function parseTarget(url: string): Target {
  const authority = url.indexOf("://");
  const start = authority < 0 ? 0 : url.slice(authority + 3).search(/[/?#]/) + authority + 3;
  const rest = authority >= 0 && start < authority + 3 ? "" : url.slice(start);
  const mark = rest.indexOf("?");
  const path = mark < 0 ? rest : rest.slice(0, mark);
  const query = mark < 0 ? "" : rest.slice(mark + 1);
  return { path: path || "/", query, isMalformed: !/^[!"$-~]*$/.test(rest) };
}

/** Whether the client uses TLS: as the connection says, or else as the URL says. */
export function isSecure({ url }: Pick<Request, "url">, { isSecure: isKnownSecure }: Connection): boolean {
  return isKnownSecure ?? /^https:/i.test(url);
}
