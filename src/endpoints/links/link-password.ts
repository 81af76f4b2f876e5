import { type LinkAccess, type LinkVerdict, toUnlockCookie } from "../../auth/link-access.ts";
import type { LinkRefusal } from "../../contracts/events/links.ts";
import { createError } from "../../http/errors.ts";
import { mediaType } from "../../http/negotiate.ts";
import { isSameOrigin } from "../../http/origins/same-origin.ts";
import { emptyReply, type HeaderFields, type Reply } from "../../http/reply.ts";
import { readFormBody } from "../../http/request-body.ts";
import { isSecure } from "../../http/request-target.ts";
import type { LimitedContext, RequestContext } from "../../request/context.ts";
import type { LinkRecord } from "../../sharing/record.ts";
import { countBody } from "../../transfers/held-bodies.ts";
import { errorReply } from "../../views/errors.ts";
import { toLinkPasswordPage } from "../../views/link-password-page.ts";
import { pageReply } from "../../views/page.ts";

/** The response to a request that needs the password of a link, and why the request was refused. */
export interface LockedReply {
  readonly reply: Reply;
  /** Absent: the request has no password, or the right one. */
  readonly reason?: LinkRefusal | undefined;
}

type LockedLink = Extract<LinkVerdict, { readonly outcome: "locked" }>;

/** Browsers show a page with a form, and no dialog of their own. */
const CHALLENGES = { html: "link", others: 'Basic realm="Shared link", charset="UTF-8"' } as const;

/** Whether a request is the form of the page that asks for a link's password. */
export function isPasswordForm({ request, method, variant }: RequestContext): boolean {
  const isForm = mediaType(request.headers.get("content-type")) === "application/x-www-form-urlencoded";
  return method === "POST" && variant === "html" && isForm;
}

/** Asks for the password of a link. Reveals nothing about what the link leads to (SHARING 8). */
export function toLockedReply(context: RequestContext, { reason, retryAfterSeconds }: LockedLink): LockedReply {
  const { variant } = context;
  const error = createError(reason === undefined ? "link-password-missing" : "link-password-wrong");
  const fields: HeaderFields = {
    "WWW-Authenticate": variant === "html" ? CHALLENGES.html : CHALLENGES.others,
    "Retry-After": retryAfterSeconds === undefined ? undefined : String(retryAfterSeconds),
  };
  if (variant !== "html") return { reply: errorReply(context, 401, error, fields), reason };
  const page = toLinkPasswordPage(context, reason === undefined ? undefined : error);
  return { reply: pageReply(context, 401, page, { ...fields, "Error-Code": error.code }), reason };
}

/**
 * Verifies the password of the form, and keeps the link open in the browser by a cookie.
 * @throws HttpError `denied` for a form of another site.
 */
export async function unlockLink(
  context: LimitedContext,
  access: LinkAccess,
  record: LinkRecord,
): Promise<LockedReply> {
  const { request, connection, config, root } = context;
  if (!isSameOrigin(context, config)) throw createError("cross-site");
  const form = await readFormBody(request, { maxBytes: config.limits.maxLoginBytes, ...countBody(context) });
  const [password, ...others] = [...form].flatMap(([name, value]) => (name === "password" ? [value] : []));
  if (password === undefined || others.length > 0) throw createError("link-password-malformed");
  const result = await access.unlock(context, record, password);
  if ("outcome" in result) return toLockedReply(context, result);
  const cookie = toUnlockCookie(result.cookie, root, isSecure(request, connection));
  return { reply: emptyReply(303, { Location: root, "Set-Cookie": cookie }) };
}
