import { toStrongTag } from "../contracts/entity-tags.ts";
import type { StorageEntry, WriteOptions } from "../contracts/storage-adapter.ts";
import { parseEntityTags } from "../http/conditional.ts";
import { createError } from "../http/errors.ts";
import { parseHttpDate } from "../http/http-date.ts";
import { carriesBody, readContentLength, requireNoContentEncoding } from "../http/request-body.ts";

/**
 * The options of a write from the headers of a PUT. Does not touch the body.
 * @throws HttpError `malformed` for a partial PUT (RFC 9110 14.5) or headers that cannot be parsed,
 * `unsupported-media-type` for content with a `Content-Encoding`.
 */
export function toWriteOptions(request: Request): WriteOptions {
  const { headers } = request;
  if (headers.get("content-range") !== null) throw createError("content-range-unsupported");
  requireNoContentEncoding(headers);
  // Even without a body: if the announced content does not arrive, the upload is incomplete (CONTRACT 4.1).
  const size = readContentLength(headers) ?? (carriesBody(request) ? undefined : 0);
  const ifMatch = parseEntityTags(headers, "if-match");
  const ifNoneMatch = parseEntityTags(headers, "if-none-match");
  return {
    signal: request.signal,
    ...(size !== undefined && { size }),
    ...(ifMatch !== undefined && { ifMatch }),
    ...(ifNoneMatch !== undefined && { ifNoneMatch }),
  };
}

/**
 * Makes a write with `If-Unmodified-Since` replace only the version that met this condition. The upload may take long,
 * and what another client writes meanwhile is newer than the date. The version is checked by its entity-tag, in one
 * step with the write. Without a strong tag, the earlier check of the date is the only one.
 */
export function withUnmodifiedSince(
  { headers }: Request,
  options: WriteOptions,
  found: StorageEntry | undefined,
  now: number,
): WriteOptions {
  const etag = toStrongTag(found?.etag);
  const isDated = parseHttpDate(headers.get("if-unmodified-since"), now) !== undefined;
  // If-Match goes before the date (RFC 9110 13.2.2).
  if (!isDated || options.ifMatch !== undefined || etag === undefined) return options;
  return { ...options, ifMatch: [etag] };
}
