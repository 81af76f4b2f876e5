import { toByteSource } from "../../contracts/byte-source.ts";
import { toBatches } from "../../contracts/member-batches.ts";
import { DONE_CODES, type DoneCode } from "../../contracts/pages/texts.ts";
import { isStorageError } from "../../contracts/storage-adapter.ts";
import { createError } from "../../http/errors.ts";
import { isHttpError } from "../../http/http-error.ts";
import { isMemberName } from "../../http/path-segment.ts";
import type { Reply } from "../../http/reply.ts";
import { emptyReply, HTML_FIELDS, sourceReply } from "../../http/reply.ts";
import type { AccountContext } from "../../request/context.ts";
import { listingEvents, sendTracked } from "../../transfers/download-events.ts";
import { isInDropFolder } from "../../transfers/links/drop-folder.ts";
import { asksForSender } from "../../transfers/links/sent-file.ts";
import { holdUntilRead } from "../../transfers/tracked-source.ts";
import { wantsArchive } from "../../transfers/wants-archive.ts";
import { DOWNLOAD_ACTION, MAX_LISTED } from "../../uploads/form.ts";
import type { FolderActions } from "../../views/folder-actions.ts";
import { type FolderPage, type FolderProblem, streamFolderPage } from "../../views/folder-page.ts";
import { type PageMember, parseMemberOrder } from "../../views/member-order.ts";
import { redirectReply, toPageFields } from "../../views/page.ts";
import { mayShare, toNewLinkPath } from "../links/own-links.ts";
import { isLinkFilePage, linkFilePage, toPageLink } from "../links/visitor-page.ts";
import { afterBasicLogin, isBasicLogin } from "../login/basic-login.ts";
import { withNavigation } from "../session-navigation.ts";
import { throwNotListed } from "../trailing-slash.ts";
import { toTrashPath } from "../trash/trash-path.ts";
import { toVersionListPath } from "../versions/version-path.ts";
import { createFindDenied, isUploadOnly, toFolderActions } from "./allowed-actions.ts";
import { archiveReply } from "./archive.ts";
import { getListing } from "./get-listing.ts";
import { acquirePageBytes, toMemberBytes } from "./page-memory.ts";
import { findPageQuota } from "./page-quota.ts";
import { ownTriggers } from "./run-trigger.ts";
import { findSearch, searchFolder } from "./search.ts";
import { readSentFiles } from "./sent-files.ts";

/**
 * `GET` and `HEAD /home/<folder>/`: a folder's members as JSON or as a page, or its content as an archive (4.2, 4.6).
 */
export async function getFolder(context: AccountContext): Promise<Reply> {
  const { request, path, files, variant, texts, link } = context;
  if (link === undefined && isBasicLogin(context)) {
    return redirectReply(context, 302, afterBasicLogin(context), texts.loggedIn);
  }
  if (wantsArchive(context)) {
    if (link?.isDropFolder) throw createError("denied");
    return archiveReply(context);
  }
  const search = findSearch(context);
  if (search !== undefined) return searchFolder(context, search);
  if (variant !== "html") return getListing(context);
  if (isLinkFilePage(context)) {
    return linkFilePage(context, 200, { isUploaded: toDoneCode(context) === "uploaded", problems: [] });
  }
  const isForUploads = await hasUploadPage(context);
  if (request.method === "HEAD") {
    if (!isForUploads) await files.checkListing(path.segments).catch(throwNotListed);
    return emptyReply(200, { ...toPageFields(context), ...HTML_FIELDS });
  }
  if (isForUploads) {
    const sent = await readSentFiles(context, new URLSearchParams(context.target.query));
    return folderPage(context, 200, { problems: [], done: toDoneCode(context), sent });
  }
  return sendTracked(context, listingEvents, async () => {
    const page = await openFolderPage(context, "throw", {
      problems: [],
      done: toDoneCode(context),
      entered: toShown(context),
    });
    return { source: toByteSource(page), fields: { ...toPageFields(context), ...HTML_FIELDS } };
  });
}

/** Whether the folder gets a page with forms but without members, so that an account that may only upload can do so. */
async function hasUploadPage({ account, files, path: { segments } }: AccountContext): Promise<boolean> {
  return isUploadOnly(account, segments) && (await files.kindOf(segments)) === "folder";
}

/** What the page of a folder shows of the last form: its problems, or its success. */
export type FolderReport = Pick<FolderPage, "done" | "sent" | "entered"> & Required<Pick<FolderPage, "problems">>;

/** The page of the request's folder, even if its members cannot be listed. A form keeps its permits until its end. */
export async function folderPage(context: AccountContext, status: number, report: FolderReport): Promise<Reply> {
  if (isLinkFilePage(context)) {
    return linkFilePage(context, status, { isUploaded: false, problems: report.problems.map(({ error }) => error) });
  }
  const page = toByteSource(await openFolderPage(context, "show", report));
  return sourceReply(status, holdUntilRead(context, page), {
    ...toPageFields(context),
    ...HTML_FIELDS,
  });
}

/** The code of the form that redirected to the page (4.6). */
function toDoneCode({ target }: AccountContext): DoneCode | undefined {
  const given = new URLSearchParams(target.query).get("done");
  return DONE_CODES.find((code) => code === given);
}

/** The member whose properties and forms the page has: its row links to the page with them. */
function toShown({ target }: AccountContext): FolderReport["entered"] {
  const name = new URLSearchParams(target.query).get("member");
  return name === null || !isMemberName(name) ? undefined : { shown: name };
}

/** What happens if the members cannot be read: the request fails, or the page says why. */
type WhenUnreadable = "throw" | "show";

/**
 * Opens the page of the request's folder (4.6), which is sent while it is rendered.
 * @throws what `readMembers` throws.
 */
async function openFolderPage(
  context: AccountContext,
  whenUnreadable: WhenUnreadable,
  report: FolderReport,
): Promise<ReadableStream<Uint8Array>> {
  const { path, account, target, config, eventLink, files } = context;
  const { segments } = path;
  const sender = eventLink?.sender;
  const { members, problems } = isInDropFolder(context) ? NOTHING_SHOWN : await readMembers(context, whenUnreadable);
  const offered = toFolderActions(account, segments, ownTriggers(context), members);
  const hasTrash = files.trash?.covers(segments) ?? false;
  const actions: FolderActions = {
    ...offered,
    // The page has no field for the name that a copy needs there.
    copy: offered.copy && !asksForSender(context),
    purge: hasTrash,
    ...(mayShare(context) && { share: toNewLinkPath(config.basePath, segments) }),
    ...(files.versions && offered.download && { versions: toVersionListPath(config.basePath, [...segments, ""]) }),
  };
  return streamFolderPage(await withNavigation(context), {
    ...report,
    segments,
    members,
    order: parseMemberOrder(new URLSearchParams(target.query)),
    actions,
    link: toPageLink(context),
    ...(hasTrash && { trash: toTrashPath(config.basePath) }),
    quota: await findPageQuota(context),
    downloadLimits: { names: MAX_LISTED, bytes: config.limits.maxFormFieldBytes - DOWNLOAD_ACTION.length },
    commandLimits: config.limits,
    ...(sender !== undefined && { entered: { ...report.entered, sender } }),
    problems: [...report.problems, ...problems],
  });
}

/** The bytes of a page without members: its rendered parts, and the buffer that it is sent from. */
const PAGE_BYTES = 524_288;

interface ReadMembers {
  /** All members. Absent if they cannot be listed and the page is shown anyway. */
  readonly members: readonly PageMember[] | undefined;
  /** Why they cannot be listed, if the reason is temporary. */
  readonly problems: readonly FolderProblem[];
}

/** The page of a drop folder has no members. It must not even reveal whether the folder is empty. */
const NOTHING_SHOWN: ReadMembers = { members: undefined, problems: [] };

/**
 * Reads the members of a page, and acquires a permit for the bytes that they take.
 * @throws what listing the folder throws; HttpError `unavailable` if the pages of the account take too many bytes. With
 * `"show"` it returns such errors as problems.
 */
async function readMembers(context: AccountContext, whenUnreadable: WhenUnreadable): Promise<ReadMembers> {
  const { files, path, pagePermit, failureOf } = context;
  const { signal } = context.request;
  const findDenied = await createFindDenied(context);
  const members: PageMember[] = [];
  let bytes = PAGE_BYTES;

  try {
    acquirePageBytes(pagePermit, bytes);
    for await (const batch of toBatches(files.list(path.segments))) {
      for (const { name, kind, size, modified } of batch) {
        const found = findDenied(name, kind === "folder");
        // Without rules on names there is nothing to wait for.
        const denied = found instanceof Promise ? await found : found;
        // A copy of another object would take more memory.
        members.push({ name, kind, size, modified: modified.getTime(), denied });
      }
      bytes += toMemberBytes(batch);
      // After a disconnect there is no client to show the page to.
      signal.throwIfAborted();
      acquirePageBytes(pagePermit, bytes);
    }
    return { members, problems: [] };
  } catch (error) {
    if (whenUnreadable === "throw" || !(isHttpError(error) || isStorageError(error))) return throwNotListed(error);
    pagePermit.release();
    const known = failureOf(error);
    return { members: undefined, problems: known.failure === "unavailable" ? [{ error: known }] : [] };
  }
}
