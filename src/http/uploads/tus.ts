import { createError } from "../errors.ts";
import { carriesBody, hasContent, readContentLength, requireNoContentEncoding } from "../request-body.ts";
import { readChecksum } from "./checksum.ts";
import { readConcat } from "./concat.ts";
import { parseUploadMetadata, toUploadName, type UploadMetadata } from "./metadata.ts";
import { isTusContent, requireNoConditions, requireTusVersion } from "./protocol.ts";
import type { TusAppend, TusCreation, UploadConcat } from "./request-types.ts";
import { TUS_MEDIA_TYPE } from "./vocabulary.ts";

const DIGITS = /^\d{1,15}$/;

/**
 * Reads the header fields of a request that creates an upload by tus (Creation, RESUMABLE 3.2). `isFolder`: its URL is
 * that of a folder, so the metadata name the file. Reads the content only if the fields do not say whether there is
 * any.
 * @throws HttpError `precondition-failed` for another version of tus, `unsupported-media-type` for other content than
 * the first bytes of the file, `malformed` for malformed fields, and `denied` for content of a joined upload.
 */
export async function readTusCreation(request: Request, isFolder: boolean): Promise<TusCreation> {
  const { headers } = request;
  requireTusVersion(headers);
  requireNoContentEncoding(headers);
  const carriesPart = isTusContent(headers);
  if (!carriesPart && (await hasContent(request))) throw createMediaTypeError();
  const concat = readConcat(request);
  const length = readLength(headers, concat);
  const metadata = headers.get("upload-metadata") ?? undefined;
  const pairs = metadata === undefined ? undefined : parseUploadMetadata(metadata);
  const name = isFolder ? readName(pairs, concat) : undefined;
  const announced = carriesPart ? readAnnounced(request) : 0;
  const digests = readChecksum(headers);
  if (concat?.kind === "final" && carriesPart && (await hasContent(request)))
    throw createError("upload-concat-content");
  return { protocol: "tus", name, length, announced, digests, hasContent: carriesPart, metadata, concat };
}

/**
 * Reads the header fields of a `PATCH` by tus. {@link requireTusVersion} has passed.
 * @throws HttpError `unsupported-media-type` and `malformed`.
 */
export function readTusAppend(request: Request): TusAppend {
  const { headers } = request;
  if (!isTusContent(headers)) throw createMediaTypeError();
  requireNoContentEncoding(headers);
  requireNoConditions(headers);
  const offset = readNumber(headers, "upload-offset");
  if (offset === undefined) throw createError("upload-offset-invalid");
  const length = headers.has("upload-length") ? requireLength(headers) : undefined;
  return { protocol: "tus", offset, length, announced: readAnnounced(request), digests: readChecksum(headers) };
}

/** The number of bytes of the content, `undefined` if it is not announced. */
export function readAnnounced(request: Request): number | undefined {
  return readContentLength(request.headers) ?? (carriesBody(request) ? undefined : 0);
}

/** The length of a new upload. Exactly one field has it, or says that it follows later. A joined upload has neither. */
function readLength(headers: Headers, concat: UploadConcat | undefined): number | undefined {
  const isDeferred = headers.has("upload-defer-length");
  const isTold = headers.has("upload-length");
  const needsOne = concat?.kind !== "final";
  const isOne = headers.get("upload-defer-length") === (isDeferred ? "1" : null) && isDeferred !== isTold;
  if (needsOne ? !isOne : isDeferred || isTold) throw createError("upload-length-missing");
  return isTold ? requireLength(headers) : undefined;
}

function requireLength(headers: Headers): number {
  const length = readNumber(headers, "upload-length");
  if (length === undefined) throw createError("upload-length-invalid");
  return length;
}

/** A partial upload needs no name: it becomes a part of a file that another request names. */
function readName(metadata: UploadMetadata | undefined, concat: UploadConcat | undefined): string | undefined {
  return concat?.kind === "partial" ? undefined : toUploadName(metadata);
}

/** The number of a field that has only digits. A second field of the name makes it malformed. */
function readNumber(headers: Headers, name: "upload-length" | "upload-offset"): number | undefined {
  const value = headers.get(name);
  return value !== null && DIGITS.test(value) ? Number(value) : undefined;
}

function createMediaTypeError() {
  return createError("upload-media-type", { values: { type: TUS_MEDIA_TYPE } });
}
