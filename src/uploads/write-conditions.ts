import type { StorageEntry, WriteOptions } from "../contracts/storage-adapter.ts";
import { parseEntityTags } from "../http/conditional.ts";
import { parseHttpDate } from "../http/http-date.ts";
import { HttpError } from "../http/http-error.ts";
import { readContentLength, refuseContentEncoding } from "../http/request-body.ts";

/**
 * What the header of a PUT demands of the write, checked before its body is touched.
 * @throws HttpError `malformed` for a partial PUT (RFC 9110 14.5) or unreadable fields, `unsupported-media-type` for coded content.
 */
export function toWriteOptions(request: Request): WriteOptions {
  const { headers } = request;
  if (headers.get("content-range") !== null)
    throw new HttpError("malformed", "PUT with Content-Range is not supported.");
  refuseContentEncoding(headers);
  // Also where no body is left: what was announced and does not come is missing (CONTRACT 4.1).
  const size = readContentLength(headers) ?? (request.body === null ? 0 : undefined);
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
 * The same write, onto the version alone that `If-Unmodified-Since` has been met by: its content may be long on its way, and what another client
 * writes meanwhile is younger than the date. By its tag, as one step with the write; without a strong one the date was checked before, and that is all.
 */
export function toUnmodified(
  { headers }: Request,
  options: WriteOptions,
  found: StorageEntry | undefined,
  now: number,
): WriteOptions {
  const etag = found?.etag;
  const isDated = parseHttpDate(headers.get("if-unmodified-since"), now) !== undefined;
  // If-Match goes before the date (RFC 9110 13.2.2).
  if (!isDated || options.ifMatch !== undefined || etag === undefined || etag.startsWith("W/")) return options;
  return { ...options, ifMatch: [etag] };
}
