import { toUrlPath } from "../../account/path.ts";
import type { Chosen } from "../../archive/entries.ts";
import { StorageError } from "../../contracts/storage-adapter.ts";
import type { DoneCode } from "../../contracts/texts.ts";
import { HttpError, isHttpError } from "../../http/http-error.ts";
import { type FormPart, readMultipart } from "../../http/multipart.ts";
import { emptyResponse } from "../../http/responses.ts";
import type { AccountExchange } from "../../request/context.ts";
import { tellFailure } from "../../request/emit-event.ts";
import { toStatus } from "../../request/errors.ts";
import { storeFile } from "../../transfers/store-upload.ts";
import { FORM_ACTIONS, type FormFields, receiveForm } from "../../uploads/form.ts";
import { createFormFiles, type FormUpload } from "../../uploads/form-files.ts";
import { readMetadata } from "../../uploads/metadata-header.ts";
import type { FolderProblem } from "../../views/folder-page.ts";
import { archiveResponse } from "./archive.ts";
import { chooseMember } from "./choose-member.ts";
import { folderPage } from "./get-folder.ts";
import { attemptAll, type MemberOutcome, toCommonStatus, toOutcomesResponse } from "./member-outcomes.ts";
import { ownTriggers, runTrigger } from "./run-trigger.ts";

/** A form, read to its end. */
interface ReceivedForm extends FormFields {
  /** What became of its files, where they were to be stored. */
  readonly uploads: readonly FormUpload[];
}

/** `POST /home/<folder>/` with a browser's form: one action on the folder, its members or new files (4.6, CONTRACT 4.6). */
export async function postForm(exchange: AccountExchange): Promise<Response> {
  const { path, files } = exchange;
  if ((await files.kindOf(path.segments)) !== "folder") throw new StorageError("not-found");
  const form = await readForm(exchange);
  if ("refusal" in form) return form.refusal;
  const omission = findOmission(form);
  if (omission !== undefined) return refuseWhole(exchange, omission);
  if (form.action === "download-members") return download(exchange, form.members);
  const outcomes = await run(exchange, form);
  return respond(exchange, outcomes, toDoneCode(form.action));
}

/**
 * Files are stored while the form is read. Where it turns out to be no form behind them, browsers get the folder's page, which shows what was
 * stored, with what is wrong.
 */
async function readForm(exchange: AccountExchange): Promise<ReceivedForm | { readonly refusal: Response }> {
  const { request, path, config } = exchange;
  const { signal } = request;
  const { maxFormParts: maxParts, maxPartHeadBytes: maxHeadBytes, maxFormFieldBytes } = config.limits;
  const metadata = toFormMetadata(exchange);
  const uploads = createFormFiles({
    write: (name, content) =>
      storeFile(exchange, {
        segments: [...path.segments, name],
        content,
        toOptions: () => ({ signal }),
        metadata: metadata.value,
      }),
    signal,
  });
  const actions: ReadonlySet<string> = new Set([...FORM_ACTIONS, ...ownTriggers(exchange).keys()]);
  try {
    const parts = metadata.required(readMultipart(request, { maxParts, maxHeadBytes }));
    const fields = await receiveForm(parts, uploads, (name) => actions.has(name), maxFormFieldBytes);
    return { ...fields, members: [...new Set(fields.members)], uploads: uploads.outcomes() };
  } catch (error) {
    const outcomes = uploads.outcomes();
    const isOver = outcomes.length === 0 || signal.aborted;
    if (isOver || exchange.variant !== "html" || !isHttpError(error)) throw error;
    return { refusal: await refuseRest(exchange, error, outcomes) };
  }
}

/** The folder's page, which shows what was stored; where anything was, it says which files were not (CONTRACT 4.6). */
function refuseRest(exchange: AccountExchange, error: HttpError, uploads: readonly FormUpload[]): Promise<Response> {
  const isStored = uploads.some((upload) => upload.error === undefined);
  const failed = uploads.flatMap((upload) =>
    isStored && upload.error !== undefined
      ? [{ target: upload.name, message: exchange.failureOf(upload.error).message }]
      : [],
  );
  return pageOf(exchange, toStatus(error.failure, "html"), [error, ...failed]);
}

/**
 * The metadata of a form's files (4.4, CONTRACT 5). A header that is there is judged before the form is read; one that is missing refuses the form at its first file, as forms without
 * files need none.
 */
function toFormMetadata({ request, config: { metadataFields } }: AccountExchange) {
  const isThere = metadataFields !== undefined && request.headers.get(metadataFields.header) !== null;
  const value = isThere ? readMetadata(request.headers, metadataFields) : undefined;

  async function* required(parts: AsyncIterable<FormPart>): AsyncGenerator<FormPart> {
    for await (const part of parts) {
      if (part.filename && metadataFields !== undefined && !isThere) readMetadata(request.headers, metadataFields);
      yield part;
    }
  }

  return { value, required };
}

/** What the user has left out. */
function findOmission({ action, newFolders, members, uploads }: ReceivedForm): string | undefined {
  switch (action) {
    case "create-folder":
      return newFolders.length === 1 ? undefined : "The name of one new folder is needed.";
    case "upload-file":
      return uploads.length > 0 ? undefined : "No file is chosen.";
    default:
      return members.length > 0 ? undefined : "Nothing is selected.";
  }
}

async function run(exchange: AccountExchange, form: ReceivedForm): Promise<readonly MemberOutcome[]> {
  const { path, files, failureOf } = exchange;
  const { action, newFolders, members, uploads } = form;
  switch (action) {
    case "create-folder":
      return attemptAll(exchange, newFolders, (name) => files.createFolder([...path.segments, name]));
    case "upload-file":
      return uploads.map(({ name, error }) =>
        error === undefined ? { target: name } : { target: name, error: failureOf(error) },
      );
    case "delete-members":
      return attemptAll(exchange, members, (name) => files.remove([...path.segments, name], "any"));
  }
  const trigger = ownTriggers(exchange).get(action);
  if (trigger === undefined) throw new HttpError("malformed", "The form's action is not known.");
  return attemptAll(exchange, members, (name) => runTrigger(exchange, action, trigger, name));
}

/** The archive of the members, if all of them can be in it. */
async function download(exchange: AccountExchange, members: readonly string[]): Promise<Response> {
  const chosen: Chosen[] = [];
  const outcomes = await attemptAll(exchange, members, async (name) => {
    chosen.push(await chooseMember(exchange, name));
  });
  if (outcomes.every(({ error }) => error === undefined)) return archiveResponse(exchange, chosen);
  return respondFailed(exchange, outcomes);
}

function respond(
  exchange: AccountExchange,
  outcomes: readonly MemberOutcome[],
  done: DoneCode,
): Response | Promise<Response> {
  if (outcomes.some(({ error }) => error !== undefined)) return respondFailed(exchange, outcomes);
  return exchange.variant === "html" ? redirectDone(exchange, done) : toOutcomesResponse(outcomes);
}

function respondFailed(exchange: AccountExchange, outcomes: readonly MemberOutcome[]): Response | Promise<Response> {
  if (exchange.variant !== "html") return toOutcomesResponse(outcomes);
  const failed = outcomes.flatMap(({ target, error }) => (error === undefined ? [] : [{ target, error }]));
  const problems = failed.map(({ target, error }) => ({ target, message: error.message }));
  return pageOf(exchange, toCommonStatus(failed.map(({ error }) => error)), problems);
}

/** Nothing was done: the folder's page says why, or the errors body. */
function refuseWhole(exchange: AccountExchange, message: string): Promise<Response> {
  if (exchange.variant !== "html") throw new HttpError("malformed", message);
  return pageOf(exchange, toStatus("malformed", "html"), [{ message }]);
}

/** The folder's page with what is wrong, of which the operator is told as well. */
function pageOf(exchange: AccountExchange, status: number, problems: readonly FolderProblem[]): Promise<Response> {
  tellFailure(exchange, status, [...new Set(problems.map(({ message }) => message))].join(" "));
  return folderPage(exchange, status, { problems });
}

/** Back to the folder by GET: a reload does not send the form again. The query is kept, such as the order of the listing. */
function redirectDone({ config, path, target }: AccountExchange, done: DoneCode): Response {
  const query = new URLSearchParams(target.query);
  query.set("done", done);
  return emptyResponse(303, { Location: `${config.basePath}/home/${toUrlPath(path)}?${query}` });
}

function toDoneCode(action: string): DoneCode {
  switch (action) {
    case "create-folder":
      return "folder-created";
    case "upload-file":
      return "uploaded";
    case "delete-members":
      return "deleted";
    default:
      return "triggered";
  }
}
