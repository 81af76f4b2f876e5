import { parseFilename } from "../content-disposition.ts";
import { readVerifiableDigests } from "../digests/digest-headers.ts";
import { createError } from "../errors.ts";
import { mediaType } from "../negotiate.ts";
import { requireNoContentEncoding } from "../request-body.ts";
import { parseUploadMetadata, requireMemberName, toUploadName } from "./metadata.ts";
import { readInteropVersion, requireNoConditions } from "./protocol.ts";
import type { DraftAppend, DraftCreation } from "./request-types.ts";
import { readBoolean, readInteger } from "./structured-fields.ts";
import { readAnnounced } from "./tus.ts";
import { DRAFT_MEDIA_TYPE } from "./vocabulary.ts";

/**
 * Reads the header fields of a request that creates an upload by the draft (Upload Creation, RESUMABLE 4.3).
 * `isFolder`: its URL is that of a folder, so the fields name the file.
 * @throws HttpError `malformed` for malformed fields and for lengths that differ, `unsupported-media-type` for content
 * with a `Content-Encoding`.
 */
export function readDraftCreation(request: Request, isFolder: boolean): DraftCreation {
  const { headers } = request;
  requireNoContentEncoding(headers);
  const isComplete = requireComplete(headers);
  const announced = readAnnounced(request);
  const length = readInteger(headers, "upload-length");
  const total = isComplete ? announced : undefined;
  if (length !== undefined && (total ?? length) !== length) throw createError("upload-length-inconsistent");
  const name = isFolder ? readName(headers) : undefined;
  return {
    protocol: "draft",
    interop: readInteropVersion(headers),
    name,
    isComplete,
    length: length ?? total,
    announced,
    digests: readVerifiableDigests(headers, "Content-Digest"),
    fileDigests: isComplete ? readVerifiableDigests(headers, "Repr-Digest") : [],
  };
}

/**
 * Reads the header fields of a `PATCH` by the draft (Upload Append, RESUMABLE 4.4). A field that cannot be parsed is
 * ignored, as the draft demands; two of them are required.
 * @throws HttpError `unsupported-media-type` and `malformed`.
 */
export function readDraftAppend(request: Request): DraftAppend {
  const { headers } = request;
  const interop = readInteropVersion(headers);
  const type = mediaType(headers.get("content-type"));
  // Version 5 had no media type for parts.
  if (type !== DRAFT_MEDIA_TYPE && !(type === undefined && interop === 5)) {
    throw createError("upload-media-type", { values: { type: DRAFT_MEDIA_TYPE } });
  }
  requireNoContentEncoding(headers);
  requireNoConditions(headers);
  const offset = readInteger(headers, "upload-offset");
  if (offset === undefined) throw createError("upload-offset-invalid");
  const isComplete = requireComplete(headers);
  return {
    protocol: "draft",
    interop,
    offset,
    isComplete,
    length: readInteger(headers, "upload-length"),
    announced: readAnnounced(request),
    digests: readVerifiableDigests(headers, "Content-Digest"),
    fileDigests: isComplete && offset === 0 ? readVerifiableDigests(headers, "Repr-Digest") : [],
  };
}

function requireComplete(headers: Headers): boolean {
  const isComplete = readBoolean(headers, "upload-complete");
  if (isComplete === undefined) throw createError("upload-complete-invalid");
  return isComplete;
}

/** The name of the file: that of `Content-Disposition`, else that of the metadata of tus, which its clients send. */
function readName(headers: Headers): string {
  const disposition = headers.get("content-disposition");
  const filename = disposition === null ? undefined : parseFilename(disposition);
  if (filename !== undefined) return requireMemberName(filename);
  const metadata = headers.get("upload-metadata");
  return toUploadName(metadata === null ? undefined : parseUploadMetadata(metadata));
}
