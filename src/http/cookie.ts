import { parseCookie } from "cookie";

/** The name of the session cookie (5.1.1). */
const NAME = "SVC_HTTP_SESSION";

const OCCURRENCES = new RegExp(`(?:^|;)[ \\t]*${NAME}[ \\t]*=`, "g");

/**
 * The session ID in the cookie of a request. Returns `undefined` if the request has two of them: one may be of another
 * site below the same domain, which wants the user to work with its own session.
 */
export function readSessionCookie(headers: Headers): string | undefined {
  const header = headers.get("cookie");
  if (header === null || (header.match(OCCURRENCES)?.length ?? 0) > 1) return undefined;
  return parseCookie(header)[NAME] || undefined;
}

/**
 * The `Set-Cookie` value for a session, with `Secure` if the client uses TLS (CONTRACT 6.3). The spec has
 * `SameSite=strict` (5.1.1), but the package `cookie` writes `SameSite=Strict`. A session ID is hexadecimal, so it
 * needs no escaping.
 */
export function toSessionCookie(id: string, secure: boolean): string {
  return `${NAME}=${id}; Path=/; HttpOnly; SameSite=strict${secure ? "; Secure" : ""}`;
}

/** The `Set-Cookie` value that deletes the session cookie. */
export function toExpiredSessionCookie(secure: boolean): string {
  return `${toSessionCookie("", secure)}; Max-Age=0`;
}
