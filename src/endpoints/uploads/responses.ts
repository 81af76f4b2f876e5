import { toUrlPath } from "../../account/path.ts";
import type { AccountUpload } from "../../account/uploads/account-uploads.ts";
import type { HeaderFields, Reply } from "../../http/reply.ts";
import { emptyReply } from "../../http/reply.ts";
import { toUploadExpires, toUploadLimit } from "../../http/uploads/fields.ts";
import type { InteropVersion, UploadAccess, UploadProtocol } from "../../http/uploads/request-types.ts";
import { toBooleanItem } from "../../http/uploads/structured-fields.ts";
import { toValidatorFields, toValidators } from "../../http/validators.ts";
import type { AccountContext } from "../../request/context.ts";
import { isInDropFolder } from "../../transfers/links/drop-folder.ts";
import { findFinishedFile, toExpiry } from "../../transfers/uploads/expiry.ts";
import { toSentConcat } from "../../transfers/uploads/kept-concat.ts";
import { toLimitsOfUpload } from "../../transfers/uploads/limits.ts";
import { requireUploads } from "../../transfers/uploads/requirements.ts";
import { toUploadPath } from "./upload-url.ts";

/** What has become of an upload in a request. */
export interface UploadOutcome {
  readonly upload: AccountUpload;
  /** Whether the upload is complete after the request. */
  readonly isComplete: boolean;
  /** The version of the draft that the client speaks. */
  readonly interop?: InteropVersion | undefined;
}

/** The response to a creation. `hasContent`: the request had the first bytes of the file. */
export function createdReply(context: AccountContext, outcome: UploadOutcome, hasContent: boolean): Reply {
  const { upload, isComplete, interop } = outcome;
  const Location = toUploadPath(context, upload.id);
  if (upload.note.protocol === "tus") {
    return emptyReply(201, {
      Location,
      "Upload-Offset": hasContent ? toOffset(upload) : undefined,
      "Upload-Expires": toExpires(context, upload),
      ...toFileFields(context, upload),
    });
  }
  if (isComplete) return completedReply(context, upload);
  return emptyReply(201, {
    Location,
    "Upload-Offset": toOffset(upload),
    "Upload-Complete": toBooleanItem(false),
    "Upload-Limit": toUploadLimit(toLimitsOfUpload(context, upload), interop),
  });
}

/** The response to an append. */
export function appendedReply(context: AccountContext, { upload, isComplete }: UploadOutcome): Reply {
  if (upload.note.protocol === "draft") {
    if (isComplete) return completedReply(context, upload);
    return emptyReply(204, { "Upload-Offset": toOffset(upload), "Upload-Complete": toBooleanItem(false) });
  }
  return emptyReply(204, {
    "Upload-Offset": toOffset(upload),
    "Upload-Expires": toExpires(context, upload),
    ...toFileFields(context, upload),
  });
}

/** The response of the draft to a complete file: that of a PUT. */
function completedReply(context: AccountContext, upload: AccountUpload): Reply {
  return emptyReply(201, {
    ...toFileFields(context, upload),
    "Upload-Offset": toOffset(upload),
    "Upload-Complete": toBooleanItem(true),
  });
}

/** The response to HEAD. */
export function shownReply(context: AccountContext, upload: AccountUpload, access: UploadAccess): Reply {
  const { size } = upload.state;
  const isTus = access.protocol === "tus";
  const file = findFinishedFile(upload);
  const length = file?.size ?? size;
  const { concat } = upload.note;
  return emptyReply(isTus ? 200 : 204, {
    "Upload-Offset": toOffset(upload),
    "Upload-Length": length === undefined ? undefined : String(length),
    "Upload-Defer-Length": isTus && length === undefined ? "1" : undefined,
    "Upload-Metadata": isTus ? upload.note.uploadMetadata : undefined,
    "Upload-Concat": isTus && concat !== undefined ? toSentConcat(context, concat) : undefined,
    "Upload-Expires": isTus ? toExpires(context, upload) : undefined,
    "Upload-Complete": toBooleanItem(file !== undefined),
    "Upload-Limit": toUploadLimit(toLimitsOfUpload(context, upload), isTus ? undefined : access.interop),
    ...toFileFields(context, upload),
    "Content-Location": file && !isInDropFolder(context) ? toFileUrl(context, upload) : undefined,
  });
}

/**
 * The header fields of the response to a refused completion. In the draft they say whether the client may try again.
 */
export function toRefusalFields(protocol: UploadProtocol, hasEnded: boolean): HeaderFields {
  return protocol === "tus" ? {} : { "Upload-Complete": toBooleanItem(hasEnded) };
}

/** The number of bytes that are kept, or that the file has. */
export function toKnownOffset(upload: AccountUpload): number {
  return findFinishedFile(upload)?.size ?? upload.state.offset;
}

function toOffset(upload: AccountUpload): string {
  return String(toKnownOffset(upload));
}

function toExpires(context: AccountContext, upload: AccountUpload): string {
  return toUploadExpires(toExpiry(upload, requireUploads(context).service.times));
}

/** The validators of the file, once it is there. A drop folder does not show them. */
function toFileFields(context: AccountContext, upload: AccountUpload): HeaderFields {
  const file = isInDropFolder(context) ? undefined : findFinishedFile(upload);
  return file === undefined ? {} : toValidatorFields(toValidators({ ...file, name: "", kind: "file" }));
}

function toFileUrl({ root }: AccountContext, { note }: AccountUpload): string {
  return `${root}${toUrlPath({ segments: note.path, isFolder: false })}`;
}
