import { StorageError } from "../../contracts/storage-adapter.ts";
import { emptyReply, HTML_FIELDS, type Reply } from "../../http/reply.ts";
import type { AccountContext } from "../../request/context.ts";
import { pageReply, toPageFields } from "../../views/page.ts";
import type { ShownError } from "../../views/texts.ts";
import { toLinkFilePage } from "../../views/visitor-file-page.ts";
import type { PageLink } from "../../views/visitor-parts.ts";

/** What the pages of a link show of it; `undefined` for a page of an account. */
export function toPageLink({ link, account }: AccountContext): PageLink | undefined {
  if (link === undefined) return undefined;
  const { record, isDropFolder } = link;
  return {
    id: record.id,
    name: record.path.at(-1) ?? "",
    expires: new Date(record.expires * 1000),
    asksName: record.askName === true,
    isDropFolder,
    isCounted: record.maxUses !== undefined,
    maxFileBytes: account.maxFileBytes,
  };
}

/** What the page of a link to one file shows of the last form. */
export interface LinkFileReport {
  readonly isUploaded: boolean;
  readonly problems: readonly ShownError[];
}

/** Whether the page of a request is that of one file: the root of a link to a file. */
export function isLinkFilePage({ link, path }: AccountContext): boolean {
  return link?.record.isFolder === false && path.segments.length === 0;
}

/**
 * The page of a link to one file.
 * @throws StorageError `not-found` if there is neither a file to show nor one to upload.
 */
export async function linkFilePage(context: AccountContext, status: number, report: LinkFileReport): Promise<Reply> {
  const { files, request } = context;
  const link = toPageLink(context);
  if (link === undefined) throw new StorageError("not-found");
  const path = [link.name];
  const isThere = (await files.kindOf(path)) === "file";
  const file = isThere && (await files.mayRead(path)) ? await files.stat(path, "read") : undefined;
  const mayUpload = (await files.may(path, "write")) && (!isThere || (await files.may(path, "delete-file")));
  const hasNothing = file === undefined && !mayUpload && !report.isUploaded && report.problems.length === 0;
  if (hasNothing) throw new StorageError("not-found");
  if (request.method === "HEAD") return emptyReply(status, { ...toPageFields(context), ...HTML_FIELDS });
  return pageReply(context, status, toLinkFilePage(context, { link, file, mayUpload, ...report }));
}
