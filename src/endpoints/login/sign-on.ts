import { createError } from "../../http/errors.ts";
import { toOwnOrigin } from "../../http/origins/own-origin.ts";
import type { Reply } from "../../http/reply.ts";
import { isSecure } from "../../http/request-target.ts";
import type { LimitedContext } from "../../request/context.ts";
import { toStatus } from "../../request/errors.ts";
import { toSignOnPath } from "../../views/login-page.ts";
import { continueReply, redirectReply } from "../../views/page.ts";
import { toReturnPath } from "./return-path.ts";
import { loginPageReply } from "./unauthorized.ts";

/** `GET /__svc__/oidc/<id>/start`: redirects to the provider, and lets the browser keep what the callback needs. */
export async function startSignOn(context: LimitedContext): Promise<Reply> {
  const { config, request, connection, target, texts, signOns } = context;
  const { basePath, session } = config;
  const id = toSignOnId(target.path);
  const returnTo = toReturnPath(new URLSearchParams(target.query).get("return"), basePath);
  const origin = toOwnOrigin(context, config.publicOrigin);
  if (origin === "") throw createError("url-malformed");
  try {
    const redirectUri = `${origin}${toSignOnPath(basePath, id, "callback")}`;
    const { location, sealed } = await signOns.start(id, { redirectUri, returnTo });
    const cookie = session.signOnCookie.set(sealed, isSecure(request, connection));
    return redirectReply(context, 302, location, texts.pleaseLogIn, { "Set-Cookie": cookie });
  } catch (error) {
    return refusedReply(context, error, returnTo);
  }
}

/**
 * `GET /__svc__/oidc/<id>/callback`: verifies what the provider has sent the browser back with, and starts a session.
 *
 * The response is a page that leads on, and no redirect: the provider's page has caused this request, and after a
 * redirect browsers would not send the session cookie, which is `SameSite=strict` (RFC 6265bis 5.2).
 */
export async function finishSignOn(context: LimitedContext): Promise<Reply> {
  const { config, request, connection, target, texts, signOns, sessions, audit, admit } = context;
  const { basePath, session } = config;
  const isTls = isSecure(request, connection);
  let returnTo: string | undefined;
  try {
    const sealed = session.signOnCookie.read(request.headers);
    const finished = await signOns.finish(toSignOnId(target.path), request, connection, {
      query: target.query,
      sealed,
    });
    returnTo = toReturnPath(finished.returnTo ?? null, basePath);
    if (finished.outcome === "refused") throw createError(finished.code);
    const { login, attempt } = finished;
    const generation = await sessions.generationOf(login.username);
    await admit(login, attempt);
    const id = await sessions.start(login, generation, (ended) =>
      audit.sessionEnded("by-account", ended, request, connection),
    );
    const reply = continueReply(context, 200, returnTo ?? `${basePath}/home/`, texts.loggedIn);
    const cookies = [session.signOnCookie.expire(isTls), session.cookie.set(id, isTls)];
    return { ...reply, headers: [...reply.headers, ...cookies.map((cookie) => ["Set-Cookie", cookie] as const)] };
  } catch (error) {
    // The cookie stays: a page of another site could end the login that is in progress.
    return refusedReply(context, error, returnTo);
  }
}

/** The ID of the login in a path such as `/__svc__/oidc/<id>/start`. */
function toSignOnId(path: string): string {
  return path.split("/").at(-2) ?? "";
}

/** Shows browsers the login page, with the text of the error. @throws HttpError what is for the error page */
function refusedReply(context: LimitedContext, error: unknown, returnTo: string | undefined): Reply {
  const { variant, failureOf } = context;
  const failure = failureOf(error);
  const isLogin = failure.failure !== "not-found" && failure.failure !== "unauthorized";
  if (variant !== "html" || !isLogin) throw error;
  const status = toStatus(failure.failure, variant);
  return loginPageReply(context, status, { returnTo, error: failure }, failure.headers);
}
