/** A request's target, still percent-encoded. */
export interface Target {
  /** The raw path, beginning with `/`. */
  readonly path: string;
  /** The raw query without its `?`; empty when there is none. */
  readonly query: string;
  readonly fragment: boolean;
}

/**
 * Cuts a request's URL apart as text. `new URL` would resolve `..` and `%2e%2e` on the way, so that what is
 * checked would no longer be what was asked (CONTRACT 2.1).
 */
export function parseTarget(url: string): Target {
  const authority = url.indexOf("://");
  const start = authority < 0 ? 0 : url.slice(authority + 3).search(/[/?#]/) + authority + 3;
  const rest = authority >= 0 && start < authority + 3 ? "" : url.slice(start);
  const hash = rest.indexOf("#");
  const beforeHash = hash < 0 ? rest : rest.slice(0, hash);
  const mark = beforeHash.indexOf("?");
  const path = mark < 0 ? beforeHash : beforeHash.slice(0, mark);
  return { path: path || "/", query: mark < 0 ? "" : beforeHash.slice(mark + 1), fragment: hash >= 0 };
}

/** Whether the request came over TLS, as its URL says. */
export function isSecure(url: string): boolean {
  return /^https:/i.test(url);
}
