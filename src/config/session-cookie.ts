import { checkNames, checkOption } from "../contracts/option-error.ts";
import { createSessionCookie, DEFAULT_COOKIE_NAME, type SessionCookie } from "../http/cookie.ts";
import { isObject } from "./checks.ts";

/** How a service names its session cookie, and where browsers send it. */
export interface SessionCookieOptions {
  /** Letters, digits, `_`, `-` and `.`, at most 64. Default: `SVC_HTTP_SESSION`. */
  readonly name?: string;
  /** The base path of the service or a path above it, such as `/`. Default: the base path. */
  readonly path?: string;
}

const NAME = /^[\w.-]{1,64}$/;

/** The cookies of a service. */
export interface ServiceCookies {
  readonly cookie: SessionCookie;
  /** What a browser keeps while its user logs in at another site, which then sends it back here. */
  readonly signOnCookie: SessionCookie;
}

/** The other site sends the browser back: with `strict`, the cookie would not come. */
const SIGN_ON_ATTRIBUTES = "SameSite=Lax; Max-Age=600";

/**
 * Creates the cookies of a service. By default browsers send them to this service alone, so that two services of one
 * origin keep each other's sessions.
 * @throws OptionError
 */
export function toCookies(options: SessionCookieOptions, basePath: string): ServiceCookies {
  checkOption(isObject(options), "session.cookie", "an object");
  checkNames(options, ["name", "path"], "session.cookie.");
  const { name = DEFAULT_COOKIE_NAME, path = basePath === "" ? "/" : basePath } = options;
  checkOption(typeof name === "string" && NAME.test(name), "session.cookie.name", "letters, digits, _, - and .");
  const isAbove = path === "/" || path === basePath || (path !== "" && basePath.startsWith(`${path}/`));
  checkOption(typeof path === "string" && isAbove, "session.cookie.path", "the base path or a path above it");
  // Browsers refuse such a cookie with any other path (RFC 6265bis 4.1.3.2).
  checkOption(!/^__host-/i.test(name) || path === "/", "session.cookie.path", "/ for a name that begins with __Host-");
  return {
    cookie: createSessionCookie(name, path),
    signOnCookie: createSessionCookie(`${name}_OIDC`, path, SIGN_ON_ATTRIBUTES),
  };
}
