import { emptyReply, HTML_FIELDS, JSON_FIELDS, type Reply, sourceReply } from "../../http/reply.ts";
import type { AccountContext } from "../../request/context.ts";
import type { LinkBody } from "../../schemas/links.ts";
import { isLinkOf } from "../../sharing/record.ts";
import { openJsonContent } from "../../views/json-listing.ts";
import { openLinksPage } from "../../views/links/links-page.ts";
import { toPageFields } from "../../views/page.ts";
import { holdOpenFolder } from "../folders/hold-open-folder.ts";
import { withNavigation } from "../session-navigation.ts";
import { describeStored, emitWithdrawn, requireStored, toLinksPath } from "./own-links.ts";

/**
 * `GET` and `HEAD /home/__svc__/links`: the links of the account, newest first. They are read while they are sent: of
 * thousands of links, only a few are in memory. A list that is not complete at once counts as a transfer.
 */
export async function listLinks(context: AccountContext): Promise<Reply> {
  const { config, root, request } = context;
  const isPage = context.variant === "html";
  const links = describeAll(context);
  const fields = isPage ? { ...toPageFields(context), ...HTML_FIELDS } : JSON_FIELDS;
  if (request.method === "HEAD") {
    await links.next();
    await links.return();
    return emptyReply(200, fields);
  }
  const list = isPage
    ? await openLinksPage(await withNavigation(context), { links, path: toLinksPath(config.basePath), home: root })
    : await openJsonContent(links, JSON.stringify);
  const response = await holdOpenFolder(context, list, fields);
  return sourceReply(200, context.transferPermit.releaseAfter(response.source), response.fields);
}

async function* describeAll(context: AccountContext): AsyncGenerator<readonly LinkBody[], void> {
  const { account } = context;
  for await (const records of requireStored(context).read(account.name, isLinkOf(account))) {
    yield await Promise.all(records.map((record) => describeStored(context, record)));
  }
}

/** `DELETE /home/__svc__/links`: withdraws all links of the account. */
export async function withdrawLinks(context: AccountContext): Promise<Reply> {
  await withdrawAll(context);
  return emptyReply(204);
}

/** Withdraws all links of the account of a request. */
export async function withdrawAll(context: AccountContext): Promise<void> {
  const { account } = context;
  await context.confirmLogin();
  await requireStored(context).removeAll(account.name, isLinkOf(account), (record) => emitWithdrawn(context, record));
}
