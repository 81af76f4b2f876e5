import { emptyReply, jsonReply, type Reply } from "../../http/reply.ts";
import { inParallel } from "../../platform/in-parallel.ts";
import type { AccountContext } from "../../request/context.ts";
import type { LinkBody } from "../../schemas/links.ts";
import { isLinkOf } from "../../sharing/record.ts";
import { toLinksPage } from "../../views/links-page.ts";
import { pageReply } from "../../views/page.ts";
import { describeKept, emitWithdrawn, requireKept, toLinksPath } from "./own-links.ts";

/** How many links are sealed at the same time. */
const PARALLEL = 16;

/** `GET` and `HEAD /home/__svc__/links`: the links of the account, newest first. */
export async function listLinks(context: AccountContext): Promise<Reply> {
  const { account, config, root, variant } = context;
  const listed = await requireKept(context).list(account.name);
  const records = listed.filter((record) => isLinkOf(record, account));
  const found = new Map<string, LinkBody>();
  await inParallel(records, { most: PARALLEL, signal: context.request.signal }, async (record) => {
    found.set(record.id, await describeKept(context, record));
  });
  const content = records.flatMap(({ id }) => found.get(id) ?? []);
  if (variant !== "html") return jsonReply(200, { content });
  return pageReply(
    context,
    200,
    toLinksPage(context, { links: content, path: toLinksPath(config.basePath), home: root }),
  );
}

/** `DELETE /home/__svc__/links`: withdraws all links of the account. */
export async function withdrawLinks(context: AccountContext): Promise<Reply> {
  await withdrawAll(context);
  return emptyReply(204);
}

/** Withdraws all links of the account of a request. */
export async function withdrawAll(context: AccountContext): Promise<void> {
  await requireKept(context).removeAll(context.account.name, (record) => emitWithdrawn(context, record));
}
