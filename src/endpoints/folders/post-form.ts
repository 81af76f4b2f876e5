import { toUrlPath } from "../../account/path.ts";
import { toChallenges } from "../../auth/challenge.ts";
import type { DoneCode } from "../../contracts/pages/texts.ts";
import { createError } from "../../http/errors.ts";
import { type HttpError, isHttpError } from "../../http/http-error.ts";
import { type FormPart, readMultipart } from "../../http/multipart.ts";
import { isMemberName } from "../../http/path-segment.ts";
import type { Reply } from "../../http/reply.ts";
import { emptyReply } from "../../http/reply.ts";
import type { AccountContext } from "../../request/context.ts";
import { toStatus } from "../../request/errors.ts";
import { createFormPermits } from "../../transfers/held-bodies.ts";
import { isInDropFolder } from "../../transfers/links/drop-folder.ts";
import { asksForSender, storeSentFile, withSender } from "../../transfers/links/sent-file.ts";
import { DOWNLOAD_ACTION, receiveForm, SHARE_ACTION } from "../../uploads/form.ts";
import { createFormFiles, type FormUpload, type RepeatedFiles } from "../../uploads/form-files.ts";
import { readMetadata } from "../../uploads/metadata-header.ts";
import { parseSender } from "../../uploads/sender.ts";
import type { EnteredValues } from "../../views/folder-actions.ts";
import type { FolderProblem } from "../../views/folder-page.ts";
import { toNewLinkPath } from "../links/own-links.ts";
import { isUploadOnly } from "./allowed-actions.ts";
import { archiveReply } from "./archive.ts";
import { chooseMembers } from "./download-members.ts";
import { createActionCheck, findOmission, type ReceivedForm, runFormAction } from "./form-actions.ts";
import { folderPage } from "./get-folder.ts";
import { requireFolder } from "./make-folder.ts";
import { type MemberOutcome, outcomesReply, problemsReply, toCommonStatus } from "./member-outcomes.ts";
import { addSentFiles, removeSentFiles } from "./sent-files.ts";

/**
 * `POST /home/<folder>/` with a browser's form: one action on the folder, its members or new files (4.6, CONTRACT 4.6).
 */
export async function postForm(context: AccountContext): Promise<Reply> {
  await requireFolder(context);
  const form = await readForm(context);
  if ("refusal" in form) return form.refusal;
  const omission = findOmission(form) ?? findSenderProblem(context, form);
  if (omission !== undefined) return refuseForm(context, omission, toEntered(form));
  if (form.action === SHARE_ACTION) return share(context, form.members);
  if (form.action === DOWNLOAD_ACTION) return download(context, form.members);
  const outcomes = await runFormAction(context, form);
  return respond(context, outcomes, form);
}

/** A longer text of a form is not shown again. */
const MAX_SHOWN_CHARACTERS = 4096;

/** Returns the error of a copy below a link that has no sender's name, if the link asks for one. */
function findSenderProblem(context: AccountContext, { action, senders }: ReceivedForm): HttpError | undefined {
  if (action !== "copy-members" || !asksForSender(context)) return undefined;
  try {
    parseSender(senders[0]);
    return undefined;
  } catch (error) {
    return context.failureOf(error);
  }
}

/** What the page shows again if the form fails. */
function toEntered({ action, members, newNames, destinations }: ReceivedForm): EnteredValues {
  const [name] = members.filter(isShown);
  const [newName = name] = newNames.filter(isShown);
  if (action === "rename-member" && name !== undefined && newName !== undefined) return { rename: { name, newName } };
  const [destination] = destinations.filter(isShown);
  const hasDestination = action === "move-members" || action === "copy-members";
  return hasDestination && destination !== undefined ? { destination, selected: new Set(members) } : {};
}

function isShown(text: string): boolean {
  return text.length <= MAX_SHOWN_CHARACTERS;
}

/**
 * Reads the form and stores its files meanwhile. If the form turns out to be malformed after files were stored,
 * browsers get the folder's page, which shows the stored files and the error.
 */
async function readForm(context: AccountContext): Promise<ReceivedForm | { readonly refusal: Reply }> {
  const { request, path, config } = context;
  const { signal } = request;
  const { maxFormParts: maxParts, maxPartHeaderBytes: maxHeaderBytes, maxFormFieldBytes } = config.limits;
  const metadata = toFormMetadata(context);
  const permits = createFormPermits(context);
  let sender: string | undefined;
  const uploads = createFormFiles({
    write: (name, content) =>
      storeSentFile(context, {
        segments: toFormPath(context, [...path.segments, name], sender),
        content,
        toOptions: () => ({ signal }),
        metadata: metadata.value,
      }),
    repeated: toRepeated(context),
    permits,
    signal,
  });
  try {
    const parts = metadata.required(readMultipart(request, { maxParts, maxHeaderBytes }));
    const fields = await receiveForm(parts, uploads, {
      isAction: createActionCheck(context),
      maxFieldBytes: maxFormFieldBytes,
      permits,
      onFile: (senders) => {
        if (asksForSender(context)) sender = parseSender(senders[0]);
      },
    });
    const listed = fields.action === DOWNLOAD_ACTION ? fields.listed : [];
    return { ...fields, members: [...new Set([...fields.members, ...listed])], uploads: uploads.outcomes() };
  } catch (error) {
    const outcomes = uploads.outcomes();
    const hasNoPage = (outcomes.length === 0 && !asksForSender(context)) || signal.aborted;
    if (hasNoPage || context.variant !== "html" || !isHttpError(error)) throw error;
    return { refusal: await refuseRest(context, error, outcomes) };
  }
}

/** The path of a form's file. A link to one file stores every file of the form as that one. */
function toFormPath(context: AccountContext, path: readonly string[], sender: string | undefined): readonly string[] {
  const named = sender === undefined ? path : withSender(context, path, sender);
  const { link } = context;
  return link === undefined || link.record.isFolder ? named : link.record.path.slice(-1);
}

/** In a drop folder each file gets a name that is free. All files for a file link would become that one. */
function toRepeated(context: AccountContext): RepeatedFiles {
  if (isInDropFolder(context)) return "none";
  return context.link?.record.isFolder === false ? "all" : "same-name";
}

/** The folder's page with the error. If any file was stored, the page also names those that were not (CONTRACT 4.6). */
function refuseRest(context: AccountContext, error: HttpError, uploads: readonly FormUpload[]): Promise<Reply> {
  const isStored = uploads.some((upload) => upload.error === undefined);
  const failed = uploads.flatMap((upload) =>
    isStored && upload.error !== undefined ? [{ target: upload.name, error: context.failureOf(upload.error) }] : [],
  );
  return pageOf(context, toStatus(error.failure, "html"), [{ error }, ...failed]);
}

/**
 * The metadata of a form's files (4.4, CONTRACT 5). If the header is present, it is checked before the form is read. If
 * it is missing and required, the form fails at its first file: forms without files need no metadata.
 */
function toFormMetadata({ request, config: { metadataFields } }: AccountContext) {
  const isPresent = metadataFields !== undefined && request.headers.get(metadataFields.header) !== null;
  const value = isPresent ? readMetadata(request.headers, metadataFields) : undefined;

  async function* required(parts: AsyncIterable<FormPart>): AsyncGenerator<FormPart> {
    for await (const part of parts) {
      if (part.filename && metadataFields !== undefined && !isPresent) readMetadata(request.headers, metadataFields);
      yield part;
    }
  }

  return { value, required };
}

/** Redirects to the page for a new link to a member. */
function share({ path, config }: AccountContext, [name = ""]: readonly string[]): Reply {
  if (!isMemberName(name)) throw createError("name-invalid");
  return emptyReply(303, { Location: toNewLinkPath(config.basePath, [...path.segments, name]) });
}

/** Responds with an archive of the members if all of them can be in it. */
async function download(context: AccountContext, members: readonly string[]): Promise<Reply> {
  const { chosen, outcomes } = await chooseMembers(context, members);
  if (outcomes.every(({ error }) => error === undefined)) return archiveReply(context, chosen);
  return respondFailed(context, outcomes);
}

function respond(
  context: AccountContext,
  outcomes: readonly MemberOutcome[],
  form: ReceivedForm,
): Reply | Promise<Reply> {
  if (outcomes.some(({ error }) => error !== undefined)) return respondFailed(context, outcomes, toEntered(form));
  if (context.variant !== "html") return outcomesReply(context, outcomes);
  return redirectDone(context, toDoneCode(form.action), outcomes);
}

function respondFailed(
  context: AccountContext,
  outcomes: readonly MemberOutcome[],
  entered?: EnteredValues,
): Reply | Promise<Reply> {
  if (context.variant !== "html") return outcomesReply(context, outcomes);
  const failed = outcomes.flatMap(({ target, error }) => (error === undefined ? [] : [{ target, error }]));
  return pageOf(context, toCommonStatus(failed.map(({ error }) => error)), failed, entered);
}

/** Refuses the complete form before any action: with the folder's page, or the JSON errors body. */
function refuseForm(context: AccountContext, error: HttpError, entered: EnteredValues): Promise<Reply> {
  if (context.variant !== "html") throw error;
  return pageOf(context, toStatus(error.failure, "html"), [{ error }], entered);
}

/**
 * The folder's page with problems. Emits the error event as well. The status is 401 if the login has ended meanwhile.
 */
async function pageOf(
  context: AccountContext,
  status: number,
  problems: readonly FolderProblem[],
  entered?: EnteredValues,
): Promise<Reply> {
  const errors = problems.map(({ error }) => error);
  const page = await problemsReply(context, status, errors, () => folderPage(context, status, { problems, entered }));
  if (status !== 401) return page;
  const challenges = toChallenges(context.request, context.variant, context.config);
  return { ...page, headers: [...page.headers, ["WWW-Authenticate", challenges]] };
}

/** Redirects to the folder, so that a reload does not send the form again. Keeps the query, such as the sort order. */
async function redirectDone(
  context: AccountContext,
  done: DoneCode,
  outcomes: readonly MemberOutcome[],
): Promise<Reply> {
  const { account, root, path, target } = context;
  const query = new URLSearchParams(target.query);
  query.set("done", done);
  removeSentFiles(query);
  if (done === "uploaded" && isUploadOnly(account, path.segments)) {
    const names = outcomes.map(({ target }) => target);
    await addSentFiles(context, query, names);
  }
  return emptyReply(303, { Location: `${root}${toUrlPath(path)}?${query}` });
}

function toDoneCode(action: string): DoneCode {
  switch (action) {
    case "create-folder":
      return "folder-created";
    case "upload-file":
      return "uploaded";
    case "delete-members":
    case "purge-members":
      return "deleted";
    case "rename-member":
      return "renamed";
    case "move-members":
      return "moved";
    case "copy-members":
      return "copied";
    default:
      return "triggered";
  }
}
