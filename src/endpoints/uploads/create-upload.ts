import type { AccountUpload } from "../../account/uploads/account-uploads.ts";
import { createError } from "../../http/errors.ts";
import { isHttpError } from "../../http/http-error.ts";
import type { Reply } from "../../http/reply.ts";
import { RESUMPTION_STATUS, toResumptionFields } from "../../http/uploads/fields.ts";
import {
  asksForResumption,
  canGetInterim,
  findCreationProtocol,
  requireCompleteContent,
} from "../../http/uploads/protocol.ts";
import type { TusCreation, UploadConcat, UploadCreation, UploadProtocol } from "../../http/uploads/request-types.ts";
import { readUploadCreation } from "../../http/uploads/requests.ts";
import { readBoolean } from "../../http/uploads/structured-fields.ts";
import type { AccountContext, AccountEndpoint } from "../../request/context.ts";
import { appendBody, toExpectedDigests } from "../../transfers/uploads/append.ts";
import { createResumableUpload } from "../../transfers/uploads/create.ts";
import { joinUploads } from "../../transfers/uploads/join.ts";
import { toLimitsOfUpload } from "../../transfers/uploads/limits.ts";
import { requireUploads } from "../../transfers/uploads/requirements.ts";
import { withSubmittedTokens } from "../webdav/submitted-tokens.ts";
import { finishUpload } from "./finish-upload.ts";
import { createdReply } from "./responses.ts";
import { parseUploadPath, toUploadPath } from "./upload-url.ts";

/**
 * `POST` and `PUT` that create an upload in several requests, by tus or by the draft (RESUMABLE 3.2, 4.2, 4.3). The
 * content of the request is the first bytes of the file.
 */
async function createUploadBy(context: AccountContext, protocol: UploadProtocol): Promise<Reply> {
  const { request, path } = context;
  const { uploads } = requireUploads(context);
  context.upload = {};
  const creation = await readUploadCreation(request, protocol, path.isFolder);
  const concat = creation.protocol === "tus" ? creation.concat : undefined;
  if (concat !== undefined && !uploads.canJoin) throw createError("upload-unsupported");
  if (creation.protocol === "tus" && concat?.kind === "final") return joinParts(context, creation, concat);
  const upload = await createResumableUpload(context, creation);
  announce(context, upload, creation);
  const hasContent = mayHaveContent(creation);
  const appended = hasContent ? await appendBody(context, upload, creation) : upload;
  const isComplete = creation.protocol === "draft" && creation.isComplete;
  const outcome = await finishUpload(context, appended, { isRequested: isComplete });
  const interop = creation.protocol === "draft" ? creation.interop : undefined;
  return createdReply(context, { ...outcome, interop }, hasContent);
}

function mayHaveContent(creation: UploadCreation): boolean {
  return creation.protocol === "tus"
    ? creation.hasContent
    : creation.announced !== 0 || toExpectedDigests(creation).length > 0;
}

async function joinParts(
  context: AccountContext,
  creation: TusCreation,
  concat: Extract<UploadConcat, { kind: "final" }>,
): Promise<Reply> {
  const upload = await joinUploads(context, creation, concat.paths, (path) => parseUploadPath(context, path));
  return createdReply(context, { upload, isComplete: true }, false);
}

/** Sends the client the URL of the upload before its content arrives, so that it can resume (RESUMABLE 4.1). */
function announce(context: AccountContext, upload: AccountUpload, creation: UploadCreation): void {
  if (creation.protocol === "tus" || creation.interop === undefined) return;
  if (!canGetInterim(context.request.headers)) return;
  const location = toUploadPath(context, upload.id);
  const fields = toResumptionFields(location, toLimitsOfUpload(context, upload), creation.interop);
  context.connection.sendInterim?.(RESUMPTION_STATUS, fields);
}

const createBy: Readonly<Record<UploadProtocol, AccountEndpoint>> = {
  tus: withSubmittedTokens((context) => createUploadBy(context, "tus")),
  draft: withSubmittedTokens((context) => createUploadBy(context, "draft")),
};

/** The endpoint for a `POST` that creates an upload; `undefined` for any other one (RESUMABLE 2.1). */
export function findCreationByPost({ request, path, uploads }: AccountContext): AccountEndpoint | undefined {
  if (uploads === undefined) return undefined;
  const protocol = findCreationProtocol(request, path.isFolder);
  return protocol && createBy[protocol];
}

/**
 * `PUT` that creates an upload. Returns `undefined` for content that is stored as a complete file, and does not read
 * its body then. That is also the case if the URL of an upload cannot be sent to the client in time, or if the storage
 * has no uploads (RESUMABLE 1.6, 4.2).
 * @throws HttpError `method-not-implemented` for a part of a file where there are no uploads.
 */
export async function putUpload(context: AccountContext): Promise<Reply | undefined> {
  const { request, connection, uploads, files } = context;
  const { headers } = request;
  if (!headers.has("upload-complete")) return undefined;
  if (uploads === undefined || files.uploads === undefined) {
    requireCompleteContent(headers);
    return undefined;
  }
  if (findCreationProtocol(request, false) !== "draft") return undefined;
  if (readBoolean(headers, "upload-complete") === false) return createUploadBy(context, "draft");
  if (connection.sendInterim === undefined || !asksForResumption(headers)) return undefined;
  try {
    return await createUploadBy(context, "draft");
  } catch (error) {
    if (!isHttpError(error) || error.code !== "upload-unsupported") throw error;
    delete context.upload;
    return undefined;
  }
}

/** `POST` where nothing but uploads can be created by it: in an API without commands and forms. */
export async function postUpload(context: AccountContext): Promise<Reply> {
  const creation = findCreationByPost(context);
  if (creation === undefined) throw createError("method-not-allowed");
  return creation(context);
}
