import { toStoragePath } from "../../account/path.ts";
import { toEventLink } from "../../auth/link-access.ts";
import { createError } from "../../http/errors.ts";
import { toOwnOrigin } from "../../http/origins/own-origin.ts";
import type { AccountContext, LinkService } from "../../request/context.ts";
import { emitEvent } from "../../request/emit-event.ts";
import type { LinkBody, LinkOptionsBody } from "../../schemas/links.ts";
import { isLinkOf, type LinkRecord } from "../../sharing/record.ts";
import type { StoredLinks } from "../../sharing/stored-links.ts";
import { toLink, toLinkBody } from "./describe-link.ts";
import { toLinkCreated, toLinkWithdrawn } from "./link-events.ts";
import { type LinkTools, type MadeLink, makeLink } from "./make-link.ts";

/** The URL path of the list of an account's links. */
export function toLinksPath(basePath: string): string {
  return `${basePath}/home/__svc__/links`;
}

/** The URL path of the page with the form for a link to a path of the account. */
export function toNewLinkPath(basePath: string, path: readonly string[]): string {
  return `${toLinksPath(basePath)}/new?path=${encodeURIComponent(toStoragePath(path))}`;
}

/** Whether the pages of a request offer links: the service has them, and the request did not come by one. */
export function mayShare(context: AccountContext): boolean {
  return hasSharing(context) && context.account.allowLinks;
}

/** Whether folders have the command and the form action for links. Links and API keys have none (SHARING 1.3). */
export function hasSharing({ links, link, key }: Pick<AccountContext, "links" | "link" | "key">): boolean {
  return links !== undefined && link === undefined && key === undefined;
}

/** The links of the service. */
export function requireLinks({ links }: Pick<AccountContext, "links">): LinkService {
  if (links === undefined) throw createError("not-found");
  return links;
}

/** The links in the store. Without one there are no lists and no single links (SHARING 3.6). */
export function requireStored(context: Pick<AccountContext, "links">): StoredLinks {
  const { stored } = requireLinks(context).sealed;
  if (stored === undefined) throw createError("not-found");
  return stored;
}

/** Checks a link as {@link makeOwnLink} does, and makes none. */
export async function checkOwnLink(
  context: AccountContext,
  path: readonly string[],
  options: LinkOptionsBody,
  tools: Pick<LinkTools, "hash" | "checkedAfter">,
): Promise<void> {
  await makeFor(context, path, options, tools);
}

async function makeFor(
  context: AccountContext,
  path: readonly string[],
  options: LinkOptionsBody,
  tools: Pick<LinkTools, "hash" | "checkedAfter">,
): Promise<MadeLink> {
  const { config, confirmLogin } = context;
  const confirmSettings = () => confirmLogin(true);
  return makeLink(requireLinks(context), context, path, options, { now: config.clock(), confirmSettings, ...tools });
}

/** Makes a link of the account of a request, and emits its event. `hash`: the same function for all of a request. */
export async function makeOwnLink(
  context: AccountContext,
  path: readonly string[],
  options: LinkOptionsBody,
  hash: LinkTools["hash"],
): Promise<MadeLink> {
  await context.confirmLogin();
  const made = await makeFor(context, path, options, { hash });
  if (context.hasListeners()) {
    emitEvent(context, { ...toLinkCreated(made.record, context.files), link: toEventLink(made.record) });
  }
  return made;
}

/** Emits event 49102. */
export function emitWithdrawn(context: AccountContext, record: LinkRecord): void {
  if (context.hasListeners()) emitEvent(context, { ...toLinkWithdrawn(record), link: toEventLink(record) });
}

/** Returns a link as the responses to a request have it. */
export async function describeLink(context: AccountContext, made: MadeLink): Promise<LinkBody> {
  const { basePath, publicOrigin } = context.config;
  const place = { basePath, origin: toOwnOrigin(context, publicOrigin) };
  return toLinkBody(await toLink(requireLinks(context), place, made));
}

/** As {@link describeLink}, for a link in the store. */
export async function describeStored(context: AccountContext, record: LinkRecord): Promise<LinkBody> {
  const token = await requireLinks(context).sealed.toToken(record);
  return describeLink(context, { record, token });
}

/** The link that the URL of a request names. @throws HttpError `not-found`, also for a link of another account. */
export async function findOwnLink(context: AccountContext): Promise<LinkRecord> {
  const { account, path } = context;
  const record = await requireStored(context).find(path.segments[2] ?? "");
  if (record === undefined || !isLinkOf(account)(record)) throw createError("not-found");
  return record;
}
