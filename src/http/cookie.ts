import { parseCookie, stringifySetCookie } from "cookie";

/** The session cookie's name (5.1.1). */
const NAME = "SVC_HTTP_SESSION";

/** The session ID that a request's cookie holds. */
export function readSessionCookie(headers: Headers): string | undefined {
  const header = headers.get("cookie");
  return header === null ? undefined : parseCookie(header)[NAME] || undefined;
}

/** The `Set-Cookie` value that keeps a session (5.1.1), with `Secure` when the request came over HTTPS (CONTRACT 6.3). */
export function toSessionCookie(id: string, secure: boolean): string {
  return stringifySetCookie({ name: NAME, value: id, path: "/", httpOnly: true, sameSite: "strict", secure });
}

/** The `Set-Cookie` value that makes a browser forget its session. */
export function toExpiredSessionCookie(secure: boolean): string {
  return stringifySetCookie({
    name: NAME,
    value: "",
    path: "/",
    httpOnly: true,
    sameSite: "strict",
    secure,
    maxAge: 0,
  });
}
