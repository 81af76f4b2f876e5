import { createError } from "../errors.ts";
import type { HttpError } from "../http-error.ts";
import { toUploadLimit } from "./fields.ts";
import type { UploadAppend, UploadCreation, UploadProtocol } from "./request-types.ts";

/** What is known of an upload before a request. */
export interface KnownLength {
  /** The number of bytes of the complete file, if a request has announced it. */
  readonly size: number | undefined;
  /** Maximum size of a file in bytes. */
  readonly maxBytes: number;
}

/**
 * Checks the lengths in a request against what is known, and against each other. The offset of an append is the
 * upload's. Returns the length that is known from now on, if any (RESUMABLE 3.6, 3.7, 4.5). Content without an
 * announced length may still be longer.
 * @throws HttpError `malformed` for lengths that contradict each other, `too-large` for more than the maximum, and for
 * content by tus beyond the length.
 */
export function agreeOnLength(
  request: UploadCreation | UploadAppend,
  { size, maxBytes }: KnownLength,
): number | undefined {
  const { protocol, announced, length } = request;
  const isAppend = "offset" in request;
  const offset = isAppend ? request.offset : 0;
  const end = announced === undefined ? undefined : offset + announced;
  const lengths = [size, length, protocol === "draft" && request.isComplete ? end : undefined];
  const [known, ...others] = lengths.filter((one) => one !== undefined);
  if (others.some((one) => one !== known)) throw createError("upload-length-inconsistent");
  if (known !== undefined && (end ?? offset) > known) {
    const isTooLong = protocol === "tus" && !(isAppend && length !== undefined);
    throw createError(isTooLong ? "upload-too-long" : "upload-length-inconsistent");
  }
  if ((known ?? end ?? offset) > maxBytes) throw createTooLargeError(protocol, maxBytes);
  return known;
}

/** Makes the error for a file that is too large. Its header fields have the maximum size, in bytes. */
export function createTooLargeError(protocol: UploadProtocol, maxBytes: number): HttpError {
  const headers: Record<string, string> =
    protocol === "tus" ? { "Tus-Max-Size": String(maxBytes) } : { "Upload-Limit": toUploadLimit({ maxBytes }) };
  return createError("too-large", { values: { max: maxBytes }, headers });
}
