import { parseCookie } from "cookie";

/** The session cookie's name (5.1.1). */
const NAME = "SVC_HTTP_SESSION";

/** The session ID that a request's cookie holds. */
export function readSessionCookie(headers: Headers): string | undefined {
  const header = headers.get("cookie");
  return header === null ? undefined : parseCookie(header)[NAME] || undefined;
}

/**
 * The `Set-Cookie` value that keeps a session, spelt as the spec has it (5.1.1), with `Secure` when the request came over HTTPS
 * (CONTRACT 6.3). A session ID is hexadecimal: nothing in it wants escaping.
 */
export function toSessionCookie(id: string, secure: boolean): string {
  return `${NAME}=${id}; Path=/; HttpOnly; SameSite=strict${secure ? "; Secure" : ""}`;
}

/** The `Set-Cookie` value that makes a browser forget its session. */
export function toExpiredSessionCookie(secure: boolean): string {
  return `${toSessionCookie("", secure)}; Max-Age=0`;
}
