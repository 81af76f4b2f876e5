import { createError } from "../../http/errors.ts";
import { mediaType } from "../../http/negotiate.ts";
import { emptyReply, jsonReply, type Reply } from "../../http/reply.ts";
import { readFormBody } from "../../http/request-body.ts";
import type { AccountContext } from "../../request/context.ts";
import { countBody } from "../../transfers/held-bodies.ts";
import { redirectReply } from "../../views/page.ts";
import { linkPageReply } from "./link-page-reply.ts";
import { describeStored, emitWithdrawn, findOwnLink, requireStored, toLinksPath } from "./own-links.ts";

/** `GET` and `HEAD /home/__svc__/links/<id>`: one link of the account. */
export async function showLink(context: AccountContext): Promise<Reply> {
  const record = await findOwnLink(context);
  const link = await describeStored(context, record);
  return context.variant === "html" ? linkPageReply(context, 200, record, link) : jsonReply(200, { results: [link] });
}

/** `DELETE /home/__svc__/links/<id>`: withdraws a link. */
export async function withdrawLink(context: AccountContext): Promise<Reply> {
  await withdraw(context);
  return emptyReply(204);
}

/** `POST /home/__svc__/links/<id>`: the form that withdraws a link. */
export async function postLink(context: AccountContext): Promise<Reply> {
  const { request, config, variant, texts } = context;
  await findOwnLink(context);
  if (mediaType(request.headers.get("content-type")) !== "application/x-www-form-urlencoded") {
    throw createError("link-form-media-type");
  }
  const form = await readFormBody(request, { maxBytes: config.limits.maxLoginBytes, ...countBody(context) });
  const actions = [...form].filter(([name]) => name === "action");
  const [action, ...others] = actions.map(([, value]) => value);
  if (action === undefined) throw createError("form-action-missing");
  if (others.length > 0) throw createError("form-action-repeated");
  if (action !== "withdraw") throw createError("form-action-unknown");
  await withdraw(context);
  const list = toLinksPath(config.basePath);
  if (variant === "html") return redirectReply(context, 303, list, texts.links.withdrawn);
  return emptyReply(303, { Location: list });
}

async function withdraw(context: AccountContext): Promise<void> {
  const record = await findOwnLink(context);
  await context.confirmLogin();
  if (!(await requireStored(context).remove(record))) throw createError("not-found");
  emitWithdrawn(context, record);
}
