import { toLinkRoot } from "../../account/links/link-account.ts";
import { toUrlPath } from "../../account/path.ts";
import type { HeaderFields, Reply } from "../../http/reply.ts";
import type { AccountContext } from "../../request/context.ts";
import type { LinkBody } from "../../schemas/links.ts";
import type { LinkRecord } from "../../sharing/record.ts";
import { toLinkPage } from "../../views/links/link-page.ts";
import { pageReply } from "../../views/page.ts";
import { withNavigation } from "../session-navigation.ts";
import { toLinksPath } from "./own-links.ts";

/** The page of a link with its URL and QR code. `status`: 201 for a new link. */
export async function linkPageReply(
  context: AccountContext,
  status: 200 | 201,
  record: LinkRecord,
  link: LinkBody,
  fields: HeaderFields = {},
): Promise<Reply> {
  const { config, root, links } = context;
  const list = links?.sealed.stored === undefined ? undefined : toLinksPath(config.basePath);
  const folder = `${root}${toUrlPath({ segments: toLinkRoot(record), isFolder: true })}`;
  const page = toLinkPage(context, { link, list, folder, isNew: status === 201 });
  return pageReply(await withNavigation(context), status, page, fields);
}
