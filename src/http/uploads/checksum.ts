import { DIGEST_BYTES, type DigestAlgorithm, digestAlgorithms } from "../../platform/incremental-digest.ts";
import { fromCanonicalBase64 } from "../../platform/text-encoding.ts";
import { createError } from "../errors.ts";
import type { ExpectedDigest } from "./demand.ts";
import { parseByteSequences } from "./structured-fields.ts";

const CHECKSUM = /^(\S+) (\S+)$/;
/** The algorithms of RFC 9530 that are verified; others are ignored, as it recommends. */
const ALGORITHMS_OF_FIELDS = { "sha-256": "sha256", "sha-512": "sha512" } as const;

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

/**
 * Reads `Content-Digest` or `Repr-Digest` (RFC 9530): those digests that this runtime can verify.
 * @throws HttpError `malformed` if the field is malformed, or if one of them has the wrong size.
 */
export function readDigests(
  headers: Headers,
  name: "Content-Digest" | "Repr-Digest",
  available = digestAlgorithms(),
): readonly ExpectedDigest[] {
  const value = headers.get(name);
  if (value === null) return [];
  const keys = Object.keys(ALGORITHMS_OF_FIELDS) as (keyof typeof ALGORITHMS_OF_FIELDS)[];
  const found = parseByteSequences(value, keys);
  const digests = [...(found ?? [])].map(([key, bytes]) => ({ algorithm: ALGORITHMS_OF_FIELDS[key], bytes }));
  if (found === undefined || !digests.every(hasRightSize)) {
    throw createError("upload-digest-invalid", { values: { header: name } });
  }
  return digests.filter(({ algorithm }) => available.includes(algorithm));
}

function hasRightSize({ algorithm, bytes }: { algorithm: DigestAlgorithm; bytes: Uint8Array }): boolean {
  return bytes.byteLength === DIGEST_BYTES[algorithm];
}
