import { toBasicChallenges, toChallenges } from "../../auth/challenge.ts";
import type { Identification } from "../../auth/identification.ts";
import type { PublicError, Refusal } from "../../auth/login-result.ts";
import { createError, type ErrorCode } from "../../http/errors.ts";
import { HttpError } from "../../http/http-error.ts";
import type { HeaderFields, Reply } from "../../http/reply.ts";
import type { RequestContext } from "../../request/context.ts";
import { errorReply } from "../../views/errors.ts";
import { type LoginPage, type SignOnButton, toLoginPage, toSignOnPath } from "../../views/login-page.ts";
import { pageReply, redirectReply } from "../../views/page.ts";
import { type ShownError, toErrorText } from "../../views/texts.ts";
import { afterBasicLogin, basicLoginPath, isBasicLogin } from "./basic-login.ts";
import { toReturnUrl } from "./return-path.ts";

/** Why a request has no valid login. */
type Unidentified = Exclude<Identification, { outcome: "identified" }>;

/** What the form of the login page keeps after a refusal. */
type LoginForm = Pick<LoginPage, "returnTo" | "username" | "asksForCode">;

/** The errors of refused logins by their scheme. */
const CODES = {
  session: "session-invalid",
  basic: "credentials-wrong",
  bearer: "key-invalid",
  authorization: "authorization-invalid",
  "no-session": "session-required",
} as const;

/** The code of the error for a client with refused credentials. */
function toCode({ code, scheme }: Extract<Unidentified, { outcome: "refused" }>): ErrorCode {
  return code ?? CODES[scheme];
}

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
  const { variant, config, path, target, texts } = context;
  if (isBasicLogin(context)) return askForBasic(context, reason);
  const login = loginPath(config.basePath);
  const returnTo = toReturnUrl(config.basePath, path, target.query);
  if (reason.outcome === "refused" && (variant !== "html" || reason.scheme !== "basic")) {
    return loginRefusedReply(context, toCode(reason), { returnTo }, reason);
  }
  if (variant !== "html") return loginRefusedReply(context, "login-required", { returnTo }, reason);
  if (reason.outcome === "refused") {
    const { error } = toPublicError(context, toCode(reason), reason.publicError);
    const fields = { "WWW-Authenticate": toBasicChallenges(config) };
    return redirectReply(context, 302, login, toErrorText(texts, error), fields);
  }
  return redirectReply(context, 302, `${login}?return=${encodeURIComponent(returnTo)}`, texts.pleaseLogIn);
}

/**
 * Opens the browser's own login dialog. A user who cancels it sees the login page. Wrong credentials get 401 again, not
 * a redirect: after a redirect, browsers would treat them as right and send them until they are closed.
 */
function askForBasic(context: RequestContext, reason: Unidentified): Reply {
  const isWrong = reason.outcome === "refused" && reason.scheme === "basic";
  const error = isWrong ? toPublicError(context, toCode(reason), reason.publicError).error : undefined;
  const fields = { "WWW-Authenticate": toBasicChallenges(context.config), ...toRetryAfter(reason.retryAfterSeconds) };
  return loginPageReply(context, 401, { returnTo: afterBasicLogin(context), error }, fields);
}

/** The login page. */
export function loginPageReply(
  context: RequestContext,
  status: number,
  { returnTo, username, asksForCode, error }: LoginForm & Pick<LoginPage, "error">,
  fields: HeaderFields = {},
): Reply {
  const { basePath, authentication } = context.config;
  const withoutCookies = basicLoginPath(basePath, returnTo);
  const hasPasswords = authentication.some(({ singleSignOn }) => singleSignOn === undefined);
  const action = hasPasswords ? loginPath(basePath) : undefined;
  const signOns = toSignOnButtons(context, returnTo);
  const page = toLoginPage(context, { action, signOns, withoutCookies, returnTo, username, asksForCode, error });
  const code = status < 400 ? {} : { "Error-Code": error?.code ?? "login-required" };
  return pageReply(context, status, page, { ...fields, ...code });
}

function toSignOnButtons({ config }: RequestContext, returnTo: string | undefined): readonly SignOnButton[] {
  const query = returnTo === undefined ? "" : `?return=${encodeURIComponent(returnTo)}`;
  return [...config.signOns.values()].map(({ singleSignOn: { id, label } }) => ({
    href: `${toSignOnPath(config.basePath, id, "start")}${query}`,
    label,
  }));
}

/**
 * Responds to a failed login: browsers get the login page with the message (CONTRACT 6.2), others the errors body
 * (7.1).
 */
export function loginRefusedReply(
  context: RequestContext,
  code: ErrorCode,
  form: LoginForm,
  { publicError, retryAfterSeconds }: Refusal = {},
): Reply {
  const { variant, config } = context;
  const { error, response } = toPublicError(context, code, publicError);
  const fields = {
    "WWW-Authenticate": toChallenges(context.request, variant, config),
    ...toRetryAfter(retryAfterSeconds),
  };
  if (variant !== "html") return errorReply(context, 401, error, fields, { response });
  return loginPageReply(context, 401, { ...form, error }, fields);
}

function toRetryAfter(seconds: number | undefined): HeaderFields {
  return seconds === undefined ? {} : { "Retry-After": String(seconds) };
}

/** The error for the user, with the text of the rejecting method if the option `publicError` is set (7.2). */
function toPublicError(
  { config }: RequestContext,
  code: ErrorCode,
  publicError: PublicError | undefined,
): { readonly error: ShownError; readonly response?: PublicError["publicResponse"] | undefined } {
  const own = createError(code);
  if (!config.publicError || publicError === undefined) return { error: own };
  const { message, publicResponse: response } = publicError;
  return { error: message === undefined ? own : new HttpError(own.failure, message, {}, { code }), response };
}
