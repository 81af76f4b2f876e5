import { toLinkRoot } from "../../account/links/link-account.ts";
import { isReserved, toStoragePath, toUrlPath } from "../../account/path.ts";
import { LINK_PERMISSIONS } from "../../contracts/links.ts";
import { StorageError } from "../../contracts/storage-adapter.ts";
import { createError } from "../../http/errors.ts";
import type { HttpError } from "../../http/http-error.ts";
import type { Reply } from "../../http/reply.ts";
import type { AccountContext } from "../../request/context.ts";
import { type EnteredLink, toNewLinkPage } from "../../views/links/new-link-page.ts";
import { pageReply } from "../../views/page.ts";
import { withNavigation } from "../session-navigation.ts";
import { createGiving, isOfFiles, parseLinkPath, toMaxSeconds } from "./make-link.ts";
import { requireLinks, toLinksPath, toNewLinkPath } from "./own-links.ts";

/**
 * `GET` and `HEAD /home/__svc__/links/new?path=<path>`: the page with the form for a new link. `permissions` in the
 * query are chosen already.
 */
export async function getNewLinkPage(context: AccountContext): Promise<Reply> {
  const { account, target } = context;
  if (!account.allowLinks) throw createError("links-denied");
  const query = new URLSearchParams(target.query);
  const path = parseLinkPath(query.get("path") ?? "");
  if (path === undefined) throw createError("path-invalid");
  if (isReserved(path)) throw createError("name-reserved");
  const permissions = query.getAll("permissions");
  const entered = permissions.length === 0 ? undefined : { permissions };
  const page = await newLinkPage(context, path, 200, { entered });
  if (page === undefined) throw new StorageError("not-found");
  return page;
}

/** What the page shows in addition to its form. */
export interface NewLinkReport {
  /** Why the last form has failed. */
  readonly error?: HttpError;
  readonly entered?: EnteredLink | undefined;
}

/**
 * The page with the form for a link to a file or folder; `undefined` if there is none.
 * @throws HttpError `denied` if the account may give nothing of it.
 */
export async function newLinkPage(
  context: AccountContext,
  path: readonly string[],
  status: number,
  { error, entered }: NewLinkReport,
): Promise<Reply | undefined> {
  const { account, files, config, root } = context;
  const { config: options, sealed } = requireLinks(context);
  const kind = await files.kindOf(path);
  if (kind === undefined) return undefined;
  const isFolder = kind === "folder";
  const mayGive = createGiving(account, path, isFolder);
  const offered = LINK_PERMISSIONS.filter((one) => (isFolder || isOfFiles(one)) && mayGive(one));
  if (offered.length === 0) throw createError("link-rights-missing");
  const maxSeconds = toMaxSeconds(options, account);
  const page = toNewLinkPage(context, {
    action: toLinksPath(config.basePath),
    self: toNewLinkPath(config.basePath, path),
    path: toStoragePath(path),
    name: path.at(-1),
    isFolder,
    back: `${root}${toUrlPath({ segments: toLinkRoot({ path, isFolder }), isFolder: true })}`,
    offered,
    maxSeconds,
    defaultSeconds: Math.min(options.defaultSeconds, maxSeconds),
    needsPassword: account.requireLinkPassword,
    hasUses: sealed.stored !== undefined,
    error,
    entered,
  });
  return pageReply(
    await withNavigation(context),
    status,
    page,
    error && { ...error.headers, "Error-Code": error.code },
  );
}
