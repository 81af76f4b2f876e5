import { toUrlPath } from "../../account/path.ts";
import { BASIC_CHALLENGE, toChallenges } from "../../auth/challenge.ts";
import type { Identification, PublicError, Refusal } from "../../auth/identify.ts";
import type { HeaderFields, Reply } from "../../http/reply.ts";
import type { RequestContext } from "../../request/context.ts";
import { errorReply } from "../../views/errors.ts";
import { type LoginPage, toLoginPage } from "../../views/login-page.ts";
import { pageReply, redirectReply } from "../../views/page.ts";
import { toFailureText } from "../../views/texts.ts";
import { afterBasicLogin, basicLoginPath, isBasicLogin } from "./basic-login.ts";

/** Why a request has no valid login. */
type Unidentified = Exclude<Identification, { outcome: "identified" }>;

const MESSAGES = {
  session: "The session is invalid or has expired.",
  basic: "The user name or password is wrong.",
  authorization: "The Authorization header is not valid.",
  "no-session": "A session is required: log in first.",
} as const;

/** The path of the login page. */
export function loginPath(basePath: string): string {
  return `${basePath}/__svc__/login`;
}

/**
 * Responds to a request without a valid login:
 *
 * - A browser without credentials is redirected to the login page, with the path to return to (CONTRACT 6.2).
 * - A browser with invalid Basic credentials is redirected to the login page without that path (5.1.2).
 * - A browser at the URL of the Basic login is asked for Basic credentials.
 * - For all other clients see {@link loginRefusedReply}.
 */
export function unauthorizedReply(context: RequestContext, reason: Unidentified): Reply {
  const { variant, config, path, texts } = context;
  if (isBasicLogin(context)) return askForBasic(context, reason);
  const login = loginPath(config.basePath);
  const returnTo = `${config.basePath}/home/${toUrlPath(path)}`;
  if (reason.outcome === "refused" && (variant !== "html" || reason.scheme !== "basic")) {
    return loginRefusedReply(context, MESSAGES[reason.scheme], returnTo, reason);
  }
  if (variant !== "html") return loginRefusedReply(context, "A login is required.", returnTo, reason);
  if (reason.outcome === "refused") {
    const { message } = toPublicError(context, MESSAGES.basic, reason.publicError);
    const fields = { "WWW-Authenticate": BASIC_CHALLENGE };
    return redirectReply(context, 302, login, toFailureText(texts, message), fields);
  }
  return redirectReply(context, 302, `${login}?return=${encodeURIComponent(returnTo)}`, texts.pleaseLogIn);
}

/**
 * Opens the browser's own login dialog. A user who cancels it sees the login page. Wrong credentials get 401 again, not
 * a redirect: after a redirect, browsers would treat them as right and send them until they are closed.
 */
function askForBasic(context: RequestContext, reason: Unidentified): Reply {
  const isWrong = reason.outcome === "refused" && reason.scheme === "basic";
  const message = isWrong ? toPublicError(context, MESSAGES.basic, reason.publicError).message : undefined;
  const fields = { "WWW-Authenticate": BASIC_CHALLENGE, ...toRetryAfter(reason.retryAfterSeconds) };
  return loginPageReply(context, 401, { returnTo: afterBasicLogin(context), message }, fields);
}

/** The login page. */
export function loginPageReply(
  context: RequestContext,
  status: number,
  { returnTo, message }: Pick<LoginPage, "returnTo" | "message">,
  fields: HeaderFields = {},
): Reply {
  const { basePath } = context.config;
  const withoutCookies = basicLoginPath(basePath, returnTo);
  const page = toLoginPage(context, { action: loginPath(basePath), withoutCookies, returnTo, message });
  return pageReply(context, status, page, fields);
}

/**
 * Responds to a failed login: browsers get the login page with the message (CONTRACT 6.2), others the errors body
 * (7.1).
 */
export function loginRefusedReply(
  context: RequestContext,
  ownMessage: string,
  returnTo: string | undefined,
  { publicError, retryAfterSeconds }: Refusal = {},
): Reply {
  const { variant, config } = context;
  const { message, response } = toPublicError(context, ownMessage, publicError);
  const fields = {
    "WWW-Authenticate": toChallenges(context.request, variant, config.session.announce),
    ...toRetryAfter(retryAfterSeconds),
  };
  if (variant !== "html") return errorReply(context, 401, message, fields, response);
  return loginPageReply(context, 401, { returnTo, message }, fields);
}

function toRetryAfter(seconds: number | undefined): HeaderFields {
  return seconds === undefined ? {} : { "Retry-After": String(seconds) };
}

/** The message for the user: our own, or that of the rejecting method if the option `publicError` is set (7.2). */
function toPublicError(
  { config }: RequestContext,
  message: string,
  publicError: PublicError | undefined,
): { readonly message: string; readonly response?: PublicError["publicResponse"] | undefined } {
  if (!config.publicError || publicError === undefined) return { message };
  return { message: publicError.message ?? message, response: publicError.publicResponse };
}
