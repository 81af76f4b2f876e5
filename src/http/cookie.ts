import { parseCookie } from "cookie";

/** The name of the session cookie, unless an option sets another one (5.1.1). */
export const DEFAULT_COOKIE_NAME = "SVC_HTTP_SESSION";

/** The session cookie of a service. */
export interface SessionCookie {
  readonly name: string;
  /**
   * Returns the session ID in the cookie of a request. Returns `undefined` if the request has two of them: one may be
   * of another site below the same domain, which wants the user to work with its own session.
   */
  read(headers: Headers): string | undefined;
  /** Whether a request has the cookie, once or more often, whatever its value. */
  has(headers: Headers): boolean;
  /** Returns the `Set-Cookie` value for a session, with `Secure` if the client uses TLS or the name demands it. */
  set(id: string, isSecure: boolean): string;
  /** Returns the `Set-Cookie` value that deletes the cookie. */
  expire(isSecure: boolean): string;
}

/**
 * Creates the cookie. `name` has only letters, digits, `_`, `-` and `.`; browsers send it to `path` and below.
 * `attributes`: when browsers send it, and how long they keep it.
 */
export function createSessionCookie(name: string, path: string, attributes = "SameSite=strict"): SessionCookie {
  // Browsers drop a cookie with such a name and without `Secure` (RFC 6265bis 4.1.3).
  const isAlwaysSecure = /^__(?:host|secure)-/i.test(name);
  const occurrences = new RegExp(`(?:^|;)[ \\t]*${name.replaceAll(".", "\\.")}[ \\t]*=`, "g");

  const count = (headers: Headers): number => headers.get("cookie")?.match(occurrences)?.length ?? 0;

  function read(headers: Headers): string | undefined {
    return count(headers) === 1 ? parseCookie(headers.get("cookie") ?? "")[name] || undefined : undefined;
  }

  // The spec has `SameSite=strict` (5.1.1), but the package `cookie` writes `SameSite=Strict`. A session ID is
  // hexadecimal, so it needs no escaping.
  const set = (id: string, isSecure: boolean): string =>
    `${name}=${id}; Path=${path}; HttpOnly; ${attributes}${isSecure || isAlwaysSecure ? "; Secure" : ""}`;

  const expire = (isSecure: boolean): string => `${set("", isSecure)}; Max-Age=0`;

  return { name, read, has: (headers) => count(headers) > 0, set, expire };
}
