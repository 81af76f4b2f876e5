import type { TimedSession } from "../../auth/sessions/types.ts";
import { parseAuthorization } from "../../http/authorization.ts";
import { createError } from "../../http/errors.ts";
import { isSameOrigin } from "../../http/origins/same-origin.ts";
import type { Reply } from "../../http/reply.ts";
import { emptyReply } from "../../http/reply.ts";
import { isSecure } from "../../http/request-target.ts";
import type { RequestContext } from "../../request/context.ts";
import { redirectReply } from "../../views/page.ts";
import { loginPath } from "./unauthorized.ts";

/**
 * `POST /__svc__/logout`: ends the session of the header or the cookie (CONTRACT 6.3). Browsers are redirected to the
 * login page. Other clients get 204, or 401 if there is no live session to end.
 */
export async function postLogout(context: RequestContext): Promise<Reply> {
  const { request, connection, config, sessions, audit, variant, texts } = context;
  const authorization = parseAuthorization(request.headers.get("authorization"));
  const isByHeader = authorization?.scheme === "session";
  if (!isByHeader && !isSameOrigin(context, config)) {
    throw createError("cross-site-logout");
  }
  // A header that names no session is not replaced by the cookie (CONTRACT 6.1).
  const byCookie = () => (authorization === undefined ? config.session.cookie.read(request.headers) : undefined);
  const id = isByHeader ? authorization.id : byCookie();
  const session = id === undefined ? undefined : await sessions.end(id, (over) => emitEnd("by-time", over));
  if (session !== undefined) emitEnd("by-account", session);

  function emitEnd(how: "by-time" | "by-account", ended: TimedSession): void {
    audit.sessionEnded(how, ended, request, connection);
  }

  const fields = { "Set-Cookie": config.session.cookie.expire(isSecure(request, connection)) };
  if (variant === "html") {
    return redirectReply(context, 302, loginPath(config.basePath), texts.loggedOut, fields);
  }
  if (session === undefined) throw createError("session-missing", { headers: fields });
  return emptyReply(204, fields);
}
