import { type ByteSource, toByteSource } from "../../contracts/byte-source.ts";
import { isStorageError } from "../../contracts/storage-adapter.ts";
import { DONE_CODES } from "../../contracts/texts.ts";
import { isHttpError } from "../../http/http-error.ts";
import { prefersArchive } from "../../http/negotiate.ts";
import type { Reply } from "../../http/reply.ts";
import { emptyReply, sourceReply } from "../../http/reply.ts";
import { yieldToEventLoop } from "../../platform/event-loop.ts";
import type { AccountContext } from "../../request/context.ts";
import { listingEvents, sendTracked } from "../../transfers/download-events.ts";
import { tooManyPages, tooManyTransfers } from "../../transfers/too-many-transfers.ts";
import { type FolderProblem, type SessionLinks, streamFolderPage } from "../../views/folder-page.ts";
import { type JsonListing, openJsonListing } from "../../views/json-listing.ts";
import { type PageMember, parseMemberOrder, toPageMember } from "../../views/member-order.ts";
import { redirectReply, toPageFields } from "../../views/page.ts";
import { afterBasicLogin, isBasicLogin } from "../login/basic-login.ts";
import { passwordUpdatePath } from "../login/password-update.ts";
import { throwNotListed } from "../trailing-slash.ts";
import { toFolderActions } from "./allowed-actions.ts";
import { archiveReply } from "./archive.ts";

const JSON_TYPE = { "Content-Type": "application/json; charset=utf-8" };
const HTML_TYPE = { "Content-Type": "text/html; charset=utf-8" };

/**
 * `GET` and `HEAD /home/<folder>/`: a folder's members as JSON or as a page, or its content as an archive (4.2, 4.6).
 */
export async function getFolder(context: AccountContext): Promise<Reply> {
  const { request, path, files, variant, texts } = context;
  if (isBasicLogin(context)) return redirectReply(context, 302, afterBasicLogin(context), texts.loggedIn);
  if (prefersArchive(request)) return archiveReply(context);
  const openListing = () => openJsonListing(files.list(path.segments)).catch(throwNotListed);
  if (request.method === "HEAD") {
    await (await openListing()).source.close();
    return emptyReply(200, variant === "html" ? { ...toPageFields(context), ...HTML_TYPE } : JSON_TYPE);
  }
  return sendTracked(context, listingEvents, async () => {
    if (variant !== "html") return { source: await holdOpenFolder(context, await openListing()), fields: JSON_TYPE };
    const page = await openFolderPage(context);
    return { source: toByteSource(page), fields: { ...toPageFields(context), ...HTML_TYPE } };
  });
}

/**
 * Returns the source of a listing. One that holds its folder open until the client has read it counts as a transfer.
 * @throws HttpError `unavailable` if there are too many transfers.
 */
async function holdOpenFolder({ transferPermit }: AccountContext, listing: JsonListing): Promise<ByteSource> {
  const { source, isComplete } = listing;
  if (isComplete || transferPermit.acquire()) return source;
  await source.close();
  throw tooManyTransfers();
}

/** What the page of a folder shows after a form that failed. */
export interface FolderReport {
  readonly problems: readonly FolderProblem[];
}

/** The page of the request's folder in response to a form. Works even if the members cannot be listed. */
export async function folderPage(context: AccountContext, status: number, report: FolderReport): Promise<Reply> {
  const page = toByteSource(await openFolderPage(context, report));
  return sourceReply(status, context.pagePermit.releaseAfter(page), { ...toPageFields(context), ...HTML_TYPE });
}

/**
 * Opens the page of the request's folder (4.6), which is sent while it is rendered. Without a report it may show the
 * success of the form that redirected to it.
 * @throws what `readMembers` throws, if there is no report.
 */
async function openFolderPage(context: AccountContext, report?: FolderReport): Promise<ReadableStream<Uint8Array>> {
  const { path, account, target, config } = context;
  const { segments } = path;
  const { members, problems } = await readMembers(context, report !== undefined);
  const query = new URLSearchParams(target.query);
  return streamFolderPage(context, {
    segments,
    members,
    order: parseMemberOrder(query),
    actions: toFolderActions(account, segments, config.triggers),
    username: account.name,
    links: await toSessionLinks(context),
    done: report === undefined ? DONE_CODES.find((code) => code === query.get("done")) : undefined,
    problems: [...(report?.problems ?? []), ...problems],
  });
}

/** After how many members the event loop may serve other requests. */
const MEMBERS_PER_YIELD = 1000;
/** After how many members their bytes are added to the permit. */
const MEMBERS_PER_PERMIT = 100;
/** The bytes of a page without members: its rendered parts, and the buffer that it is sent from. */
const PAGE_BYTES = 524_288;
/** The bytes of a member on a page, in addition to two bytes for each code unit of its name. */
const MEMBER_BYTES = 300;

interface ReadMembers {
  /** All members. Absent if they cannot be listed and the page is shown anyway. */
  readonly members: readonly PageMember[] | undefined;
  /** Why they cannot be listed, if the reason is temporary. */
  readonly problems: readonly FolderProblem[];
}

/**
 * Reads the members of a page, and acquires a permit for the bytes that they take.
 * @throws what listing the folder throws; HttpError `unavailable` if the pages of the account take too many bytes. With
 * `mayFail` it returns such errors as problems.
 */
async function readMembers(
  { files, path, request: { signal }, pagePermit, failureOf }: AccountContext,
  mayFail: boolean,
): Promise<ReadMembers> {
  const members: PageMember[] = [];
  let bytes = PAGE_BYTES;

  function acquirePages(): void {
    if (pagePermit.acquire(bytes)) return;
    // Not later: ending the listing may take long, and a refused page must not block others meanwhile.
    pagePermit.release();
    throw tooManyPages();
  }

  try {
    acquirePages();
    for await (const entry of files.list(path.segments)) {
      const member = toPageMember(entry);
      members.push(member);
      bytes += MEMBER_BYTES + 2 * member.name.length;
      // After a disconnect there is no client to show the page to.
      signal.throwIfAborted();
      if (members.length % MEMBERS_PER_PERMIT === 0) acquirePages();
      if (members.length % MEMBERS_PER_YIELD === 0) await yieldToEventLoop();
    }
    acquirePages();
    return { members, problems: [] };
  } catch (error) {
    if (!mayFail || !(isHttpError(error) || isStorageError(error))) return throwNotListed(error);
    pagePermit.release();
    const known = failureOf(error);
    return { members: undefined, problems: known.failure === "unavailable" ? [{ error: known }] : [] };
  }
}

/** The links of a browser's session (4.1, rule 4). The password link is shown only if the password can be changed. */
async function toSessionLinks({ account, config, scheme, passwords }: AccountContext): Promise<SessionLinks> {
  if (scheme !== "cookie") return {};
  const logout = `${config.basePath}/__svc__/logout`;
  const mayChange = account.allowPasswordChange && (await passwords.isPossible(account.name));
  return { logout, ...(mayChange && { passwordUpdate: passwordUpdatePath(config.basePath) }) };
}
