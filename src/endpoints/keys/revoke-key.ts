import { createError } from "../../http/errors.ts";
import { mediaType } from "../../http/negotiate.ts";
import { emptyReply, type Reply } from "../../http/reply.ts";
import { readFormBody } from "../../http/request-body.ts";
import type { AccountContext } from "../../request/context.ts";
import { countBody } from "../../transfers/held-bodies.ts";
import { redirectReply } from "../../views/page.ts";
import { emitKeyEvent, listOwnKeys, toKeyOwner, toKeysPath } from "./own-keys.ts";

/** `DELETE /home/__svc__/keys/<id>`: revokes an API key of the account. */
export async function revokeKey(context: AccountContext): Promise<Reply> {
  await revoke(context);
  return emptyReply(204);
}

/** `POST /home/__svc__/keys/<id>`: the form that revokes an API key. */
export async function postKey(context: AccountContext): Promise<Reply> {
  const { request, config, variant, texts } = context;
  if (mediaType(request.headers.get("content-type")) !== "application/x-www-form-urlencoded") {
    throw createError("link-form-media-type");
  }
  const form = await readFormBody(request, { maxBytes: config.limits.maxLoginBytes, ...countBody(context) });
  const [action, ...others] = [...form].flatMap(([name, value]) => (name === "action" ? [value] : []));
  if (action === undefined) throw createError("form-action-missing");
  if (others.length > 0) throw createError("form-action-repeated");
  if (action !== "revoke") throw createError("form-action-unknown");
  await revoke(context);
  const list = toKeysPath(config.basePath);
  if (variant === "html") return redirectReply(context, 303, list, texts.keys.revoked);
  return emptyReply(303, { Location: list });
}

async function revoke(context: AccountContext): Promise<void> {
  const { account, keys, path } = context;
  const id = path.segments[2] ?? "";
  const key = (await listOwnKeys(context)).find((own) => own.id === id);
  if (key === undefined) throw createError("not-found");
  if (!account.allowOwnKeys) throw createError("keys-denied");
  await context.confirmLogin();
  if ((await keys?.remove(toKeyOwner(context), id)) !== true) throw createError("not-found");
  emitKeyEvent(context, key, { id: 49122, data: { path: key.path ?? "/" } });
}
