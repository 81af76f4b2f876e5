import { toUrlPath } from "../account/path.ts";
import { BASIC_CHALLENGE } from "../auth/challenge.ts";
import type { Identification } from "../auth/identify.ts";
import { HttpError } from "../http/http-error.ts";
import { pageResponse } from "../http/responses.ts";
import { redirectPage } from "../views/page.ts";
import type { Exchange } from "./endpoint.ts";
import { loginPath } from "./login.ts";

/** Why a request without a valid login is refused. */
type Unidentified = Exclude<Identification, { outcome: "identified" }>;

const MESSAGES = {
  session: "The session is not valid, or not any more.",
  basic: "The user name or password is wrong.",
  cookie: "The session is not valid, or not any more.",
  certificate: "The client certificate is not accepted.",
  authorization: "The Authorization header is not valid.",
} as const;

/**
 * Sends browsers to the login page: without credentials, with the way back (CONTRACT 6.2), and with invalid Basic ones (5.1.2).
 * @throws HttpError `unauthorized` for everybody else (7.1).
 */
export function sendToLogin({ variant, config, path }: Exchange, reason: Unidentified): Response {
  const login = loginPath(config.basePath);
  if (variant === "html" && reason.outcome === "anonymous") {
    const returnTo = `${config.basePath}/home/${toUrlPath(path)}`;
    const location = `${login}?return=${encodeURIComponent(returnTo)}`;
    return pageResponse(302, redirectPage(location, "Please log in."), { Location: location });
  }
  if (reason.outcome === "anonymous") throw new HttpError("unauthorized", "A login is needed.");
  if (variant === "html" && reason.means === "basic") {
    const fields = { Location: login, "WWW-Authenticate": BASIC_CHALLENGE };
    return pageResponse(302, redirectPage(login, MESSAGES.basic), fields);
  }
  throw new HttpError("unauthorized", MESSAGES[reason.means]);
}
