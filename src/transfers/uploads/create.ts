import type { AccountUpload, NewUpload } from "../../account/uploads/account-uploads.ts";
import { checkNoteSize, type UploadNote } from "../../account/uploads/upload-note.ts";
import { type StorageEntry, StorageError } from "../../contracts/storage-adapter.ts";
import { evaluatePreconditions, isConditionalChange } from "../../http/conditional.ts";
import { isSecure } from "../../http/request-target.ts";
import { readTrace } from "../../http/trace-context.ts";
import { agreeOnLength } from "../../http/uploads/length.ts";
import type { UploadCreation } from "../../http/uploads/request-types.ts";
import { toValidators } from "../../http/validators.ts";
import type { AccountContext } from "../../request/context.ts";
import { readMetadata } from "../../uploads/metadata-header.ts";
import { toWriteOptions, withUnmodifiedSince } from "../../uploads/write-conditions.ts";
import { isInDropFolder, makeParents, requireNames, requireNewFile } from "../links/drop-folder.ts";
import { isNameTooLong } from "../links/free-names.ts";
import { addSenderFromHeader } from "../links/sent-file.ts";
import { emitUploadStarted } from "./events.ts";
import { toFirstExpiry } from "./expiry.ts";
import { toKeptConcat } from "./kept-concat.ts";
import { checkAnnounced, checkUploadLimits, hasUploadLimits, toUploadHolder } from "./limits.ts";
import { noteUpload, requireUploads } from "./requirements.ts";

/**
 * Creates the upload that a request asks for, without its content. Checks what a PUT would be refused for, then the
 * limits of uploads. Emits event 40021.
 */
export async function createResumableUpload(context: AccountContext, creation: UploadCreation): Promise<AccountUpload> {
  const { service } = requireUploads(context);
  const planned = await planUpload(context, creation);
  const upload = await createWithinLimits(context, planned);
  emitUploadStarted(context, upload);
  service.sweepSoon(context.connection);
  return upload;
}

/**
 * Creates an upload, and removes it again if it is one too many. Another process may create one at the same moment:
 * each counts both, so the limit holds, but both may be refused. In one process the creations of an account take turns.
 */
async function createWithinLimits(context: AccountContext, planned: NewUpload): Promise<AccountUpload> {
  const { uploads, service } = requireUploads(context);
  if (!hasUploadLimits(context)) return uploads.create(planned);
  return service.withLock(`account ${toUploadHolder(context)}`, async () => {
    const upload = await uploads.create(planned);
    try {
      await checkUploadLimits(context, upload);
      return upload;
    } catch (error) {
      await uploads.discard(upload.id);
      throw error;
    }
  });
}

/**
 * What a request wants to upload. Everything is checked that needs the account and the existing file: permission, then
 * conditions, then lengths (RESUMABLE 9.1).
 */
export async function planUpload(context: AccountContext, creation: UploadCreation): Promise<NewUpload> {
  const { request, config, account } = context;
  const { uploads, service } = requireUploads(context);
  const { note, conditions } = toNote(context, creation);
  noteUpload(context, note);
  await uploads.checkPermission(note);
  if (isInDropFolder(context)) requireNewFile(context);
  const isConditional = conditions !== undefined && !isInDropFolder(context);
  const checked = isConditional ? { ...note, ...(await checkConditions(context, note)) } : note;
  const size = agreeOnLength(creation, {
    size: undefined,
    maxBytes: account.maxFileBytes ?? Number.POSITIVE_INFINITY,
  });
  checkAnnounced(context, creation);
  return {
    note: isInDropFolder(context) ? await makeDropFolders(context, checked) : checked,
    expires: toFirstExpiry(config.clock(), service.times),
    signal: request.signal,
    ...(size !== undefined && { size }),
  };
}

/** Makes the folders of an upload to a drop folder, whose name is chosen when it is complete. */
async function makeDropFolders(context: AccountContext, note: UploadNote): Promise<UploadNote> {
  if (note.concat === "partial") return { ...note, path: await makeParents(context, note.path) };
  await requireNames(context, note.path);
  // The storage sees the name at the completion only.
  if (isNameTooLong(note.path.at(-1) ?? "")) throw new StorageError("bad-name");
  const folder = await makeParents(context, note.path.slice(0, -1));
  return { ...note, path: [...folder, ...note.path.slice(-1)], isNamedLater: true };
}

type Conditions = Pick<UploadNote, "ifMatch" | "ifNoneMatch">;

/** Reads what the header fields say about the file. Checks only their form. */
function toNote(
  context: AccountContext,
  creation: UploadCreation,
): { readonly note: UploadNote; readonly conditions: Conditions | undefined } {
  const { request, connection, config, account } = context;
  const isTus = creation.protocol === "tus";
  const concat = isTus ? creation.concat : undefined;
  const isPartial = concat?.kind === "partial";
  const metadata =
    isPartial || config.metadataFields === undefined ? undefined : readMetadata(request.headers, config.metadataFields);
  const trace = readTrace(request.headers);
  const { ifMatch, ifNoneMatch } = toWriteOptions(request);
  const path = toTarget(context, creation.name, isPartial);
  const { eventLink, link } = context;
  const note: UploadNote = {
    path,
    protocol: creation.protocol,
    account: { uuid: account.uuid, email: account.email },
    ...(link && eventLink && { link: { ...eventLink, username: account.name, root: link.root } }),
    component: isSecure(request, connection) ? "https" : "http",
    ...(trace !== undefined && { trace }),
    ...(isTus && creation.metadata !== undefined && { uploadMetadata: creation.metadata }),
    ...(metadata !== undefined && { metadata }),
    ...(concat !== undefined && {
      concat: concat.kind === "partial" ? "partial" : toKeptConcat(context, concat.value),
    }),
  };
  checkNoteSize(note);
  const hasConditions = !isPartial && isConditionalChange(request);
  return {
    note,
    conditions: hasConditions ? { ...(ifMatch && { ifMatch }), ...(ifNoneMatch && { ifNoneMatch }) } : undefined,
  };
}

/** The file that a request is for; for a partial upload the folder. */
function toTarget(context: AccountContext, name: string | undefined, isPartial: boolean): readonly string[] {
  const { path } = context;
  if (isPartial) return path.isFolder ? path.segments : path.segments.slice(0, -1);
  return addSenderFromHeader(context, name === undefined ? path.segments : [...path.segments, name]);
}

/** Checks the conditions of the request now. Returns those that the completion must check again (RESUMABLE 5.3). */
async function checkConditions({ request, files, config }: AccountContext, { path }: UploadNote): Promise<Conditions> {
  const current: StorageEntry | undefined = await files.stat(path, "write");
  const now = config.clock();
  const precondition = evaluatePreconditions(request, current && toValidators(current), now);
  if (precondition !== "met") throw new StorageError("precondition-failed");
  const { ifMatch, ifNoneMatch } = withUnmodifiedSince(request, toWriteOptions(request), current, now);
  return { ...(ifMatch && { ifMatch }), ...(ifNoneMatch && { ifNoneMatch }) };
}
