import { toUrlPath } from "../account/path.ts";
import { BASIC_CHALLENGE, toChallenges } from "../auth/challenge.ts";
import type { Identification, PublicError } from "../auth/identify.ts";
import { pageResponse } from "../http/responses.ts";
import { errorResponse } from "../views/errors.ts";
import { renderLoginPage } from "../views/login-page.ts";
import { redirectPage } from "../views/page.ts";
import type { Exchange } from "./endpoint.ts";

/** Why a request without a valid login is refused. */
type Unidentified = Exclude<Identification, { outcome: "identified" }>;

const MESSAGES = {
  session: "The session is not valid, or not any more.",
  basic: "The user name or password is wrong.",
  authorization: "The Authorization header is not valid.",
  "no-session": "A session is needed: log in first.",
} as const;

/** The path of the login page. */
export function loginPath(basePath: string): string {
  return `${basePath}/__svc__/login`;
}

/**
 * Answers a request whose login does not hold: a browser without credentials is led to the login page with the way back (CONTRACT 6.2),
 * one with invalid Basic credentials to the plain login page (5.1.2); for others see {@link refuseLogin}.
 */
export function refuseUnidentified(exchange: Exchange, reason: Unidentified): Response {
  const { variant, config, path } = exchange;
  const login = loginPath(config.basePath);
  const returnTo = `${config.basePath}/home/${toUrlPath(path)}`;
  if (reason.outcome === "refused" && (variant !== "html" || reason.means !== "basic")) {
    return refuseLogin(exchange, MESSAGES[reason.means], returnTo, reason.publicError);
  }
  if (variant !== "html") return refuseLogin(exchange, "A login is needed.", returnTo, reason.publicError);
  if (reason.outcome === "refused") {
    const fields = { Location: login, "WWW-Authenticate": BASIC_CHALLENGE };
    const { message } = toPublicError(exchange, MESSAGES.basic, reason.publicError);
    return pageResponse(302, redirectPage(login, message), fields);
  }
  const location = `${login}?return=${encodeURIComponent(returnTo)}`;
  return pageResponse(302, redirectPage(location, "Please log in."), { Location: location });
}

/** A failed login: the login page with the message for browsers (CONTRACT 6.2), the errors body for everybody else (7.1). */
export function refuseLogin(
  exchange: Exchange,
  ownMessage: string,
  returnTo: string | undefined,
  publicError?: PublicError,
): Response {
  const { variant, config } = exchange;
  const { message, response } = toPublicError(exchange, ownMessage, publicError);
  const fields = { "WWW-Authenticate": toChallenges(config.session.announce) };
  if (variant !== "html") return errorResponse(variant, 401, message, fields, response);
  const page = renderLoginPage({ action: loginPath(config.basePath), returnTo, message });
  return pageResponse(401, page, fields);
}

/** What the user is told: our own message, unless the option lets the rejecting method speak (7.2). */
function toPublicError(
  { config }: Exchange,
  message: string,
  publicError: PublicError | undefined,
): { readonly message: string; readonly response?: PublicError["publicResponse"] | undefined } {
  if (!config.publicError || publicError === undefined) return { message };
  return { message: publicError.message ?? message, response: publicError.publicResponse };
}
