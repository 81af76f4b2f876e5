import { emptyReply, jsonReply, type Reply } from "../../http/reply.ts";
import type { AccountContext } from "../../request/context.ts";
import { type EnteredKey, toKeysPage } from "../../views/keys-page.ts";
import { pageReply, toPageFields } from "../../views/page.ts";
import type { ShownError } from "../../views/texts.ts";
import { withNavigation } from "../session-navigation.ts";
import { listOwnKeys, mayChangeKeys, toKeysPath, toShownKey } from "./own-keys.ts";

/** `GET` and `HEAD /home/__svc__/keys`: the API keys of the account, newest first, and the form for a new one. */
export async function listKeys(context: AccountContext): Promise<Reply> {
  const keys = await listOwnKeys(context);
  if (context.variant === "html") return keysPage(context, 200);
  if (context.request.method === "HEAD") return emptyReply(200, { "Content-Type": "application/json; charset=utf-8" });
  return jsonReply(200, { content: keys.map(toShownKey) });
}

/** The page of the keys, with what was wrong with the last form. */
export async function keysPage(
  context: AccountContext,
  status: number,
  refused?: { readonly error: ShownError; readonly entered: EnteredKey },
): Promise<Reply> {
  const { config, root } = context;
  const page = toKeysPage(context, {
    keys: (await listOwnKeys(context)).map(toShownKey),
    path: toKeysPath(config.basePath),
    home: root,
    now: config.clock() / 1000,
    mayChange: await mayChangeKeys(context),
    ...refused,
  });
  return pageReply(await withNavigation(context), status, page, {
    ...toPageFields(context),
    "Error-Code": refused?.error.code,
  });
}
