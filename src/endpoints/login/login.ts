import { createError } from "../../http/errors.ts";
import { mediaType } from "../../http/negotiate.ts";
import { isSameOrigin } from "../../http/origins/same-origin.ts";
import type { Reply } from "../../http/reply.ts";
import { jsonReply } from "../../http/reply.ts";
import { readFormBody, readJsonBody } from "../../http/request-body.ts";
import { isSecure } from "../../http/request-target.ts";
import type { LimitedContext, RequestContext } from "../../request/context.ts";
import { type LoginRequest, type LoginResponse, loginFormSchema, loginRequestSchema } from "../../schemas/login.ts";
import { countBody } from "../../transfers/held-bodies.ts";
import { redirectReply } from "../../views/page.ts";
import { toReturnPath } from "./return-path.ts";
import { loginPageReply, loginRefusedReply } from "./unauthorized.ts";

/** `GET /__svc__/login`: the HTML login page (4.1). */
export async function getLoginPage(context: RequestContext): Promise<Reply> {
  const returnTo = toReturnPath(new URLSearchParams(context.target.query).get("return"), context.config.basePath);
  return loginPageReply(context, 200, { returnTo });
}

/**
 * `POST /__svc__/login`: verifies a user name and password and starts a session. Responds with its ID as JSON, or with
 * a cookie and a redirect (4.1, 5.1).
 */
export async function postLogin(context: LimitedContext): Promise<Reply> {
  const { request, connection, config, identifier, sessions, audit, variant, admit, texts } = context;
  if (!isSameOrigin(context, config)) {
    throw createError("cross-site-login");
  }
  const { username, password, one_time_password: oneTimePassword, returnTo } = await readLogin(context);
  const generation = await sessions.generationOf(username);
  const presented = { type: "password", username, content: password } as const;
  const result = await identifier.authenticate(request, connection, presented, oneTimePassword);
  if (result.outcome === "refused") {
    const form = {
      returnTo,
      username,
      asksForCode: oneTimePassword !== undefined || result.secondFactor !== undefined,
    };
    return loginRefusedReply(context, result.secondFactor ?? "credentials-wrong", form, result);
  }
  const { login, attempt } = result;
  await admit(login, { ...attempt, beginsSession: true });

  const session = await sessions.start(login, generation, (ended) =>
    audit.sessionEnded("by-account", ended, request, connection),
  );
  if (variant === "json") {
    const body: LoginResponse = { results: [{ session }] };
    return jsonReply(200, body);
  }
  const location = returnTo ?? `${config.basePath}/home/`;
  const fields = { "Set-Cookie": config.session.cookie.set(session, isSecure(request, connection)) };
  return redirectReply(context, 302, location, texts.loggedIn, fields);
}

async function readLogin(context: LimitedContext): Promise<LoginRequest & { returnTo?: string | undefined }> {
  const { request, config } = context;
  const limits = { maxBytes: config.limits.maxLoginBytes, ...countBody(context) };
  switch (mediaType(request.headers.get("content-type"))) {
    case "application/json": {
      const body = loginRequestSchema.safeParse(await readJsonBody(request, limits));
      if (!body.success) throw createError("login-malformed");
      return body.data;
    }
    case "application/x-www-form-urlencoded": {
      // If a field is sent twice, the first one counts.
      const fields = [...(await readFormBody(request, limits))].reverse();
      const form = loginFormSchema.safeParse(Object.fromEntries(fields));
      if (!form.success) throw createError("login-form-malformed");
      const { return: back = null, ...login } = form.data;
      return { ...login, returnTo: toReturnPath(back, config.basePath) };
    }
    default:
      throw createError("login-media-type");
  }
}
