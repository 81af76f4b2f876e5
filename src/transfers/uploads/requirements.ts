import type { AccountUpload, AccountUploads } from "../../account/uploads/account-uploads.ts";
import type { UploadNote } from "../../account/uploads/upload-note.ts";
import { StorageError } from "../../contracts/storage-adapter.ts";
import { createError } from "../../http/errors.ts";
import type { AccountContext, UploadService } from "../../request/context.ts";
import { isInDropFolder } from "../links/drop-folder.ts";
import { isExpired } from "./expiry.ts";

/** The resumable uploads of an account, and those of the service. */
export interface AvailableUploads {
  readonly uploads: AccountUploads;
  readonly service: UploadService;
}

/** @throws HttpError `method-not-implemented` if there are no resumable uploads. */
export function requireUploads({ files, uploads: service }: AccountContext): AvailableUploads {
  if (files.uploads === undefined || service === undefined) throw createError("upload-unsupported");
  return { uploads: files.uploads, service };
}

/**
 * Notes for the response and the events which upload a request is for. In a drop folder the response does not say what
 * becomes of the upload.
 */
export function noteUpload(context: AccountContext, { path, link }: UploadNote): void {
  context.upload = { ...context.upload, ...(!isInDropFolder(context) && { path }) };
  const { sender } = link ?? {};
  if (context.eventLink !== undefined && sender !== undefined) context.eventLink = { ...context.eventLink, sender };
}

/**
 * Finds an upload of the account, and takes over from a request that adds to it.
 * @throws StorageError `not-found`, HttpError `gone` if it has expired.
 */
export async function requireUpload(context: AccountContext, id: string): Promise<AccountUpload> {
  const { uploads, service } = requireUploads(context);
  const upload = await uploads.find(id);
  if (upload === undefined) throw new StorageError("not-found");
  noteUpload(context, upload.note);
  if (isExpired(upload, service.times, context.config.clock())) throw createError("upload-gone");
  return upload;
}
