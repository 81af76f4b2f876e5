import { DIGEST_BYTES, digestAlgorithms } from "../../platform/incremental-digest.ts";
import { fromCanonicalBase64 } from "../../platform/text-encoding.ts";
import type { ExpectedDigest } from "../digests/digest-headers.ts";
import { createError } from "../errors.ts";

const CHECKSUM = /^(\S+) (\S+)$/;

/**
 * Reads `Upload-Checksum` (tus, Checksum); none without the header.
 * @throws HttpError `malformed` if it is malformed, if its algorithm is unknown, or if this runtime does not have it.
 */
export function readChecksum(headers: Headers, available = digestAlgorithms()): readonly ExpectedDigest[] {
  const value = headers.get("upload-checksum");
  if (value === null) return [];
  const [, name = "", encoded = ""] = CHECKSUM.exec(value) ?? [];
  const algorithm = available.find((one) => one === name);
  const bytes = fromCanonicalBase64(encoded);
  if (algorithm === undefined || bytes?.byteLength !== DIGEST_BYTES[algorithm]) {
    throw createError("upload-checksum-invalid");
  }
  return [{ algorithm, bytes }];
}
