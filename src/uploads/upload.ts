import type { WriteOptions } from "../contracts/storage-adapter.ts";
import { parseEntityTags } from "../http/conditional.ts";
import { HttpError } from "../http/http-error.ts";
import { readContentLength } from "../http/request-body.ts";

/**
 * What the header of a PUT demands of the write, checked before its body is touched.
 * @throws HttpError `malformed` for a partial PUT (RFC 9110 14.5) or unreadable fields, `unsupported-media-type` for coded content.
 */
export function toWriteOptions(request: Request): WriteOptions {
  const { headers } = request;
  if (headers.get("content-range") !== null) throw new HttpError("malformed", "A part of a file cannot be put.");
  // Stored as they come, coded bytes would be served as if they were the content (RFC 9110 8.4).
  if ((headers.get("content-encoding") ?? "identity").toLowerCase() !== "identity") {
    throw new HttpError("unsupported-media-type", "Coded content is not accepted.", { "Accept-Encoding": "identity" });
  }
  const size = request.body === null ? 0 : readContentLength(headers);
  const ifMatch = parseEntityTags(headers, "if-match");
  const ifNoneMatch = parseEntityTags(headers, "if-none-match");
  return {
    signal: request.signal,
    ...(size !== undefined && { size }),
    ...(ifMatch !== undefined && { ifMatch }),
    ...(ifNoneMatch !== undefined && { ifNoneMatch }),
  };
}
