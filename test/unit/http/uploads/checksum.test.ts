import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { ExpectedDigest } from "../../../../src/http/digests/digest-headers.ts";
import { readChecksum } from "../../../../src/http/uploads/checksum.ts";
import type { DigestAlgorithm } from "../../../../src/platform/incremental-digest.ts";
import { base64, refusalOf } from "./refusals.ts";

const ALGORITHMS: readonly DigestAlgorithm[] = ["sha1", "sha256", "sha512", "md5"];

function digestOf(algorithm: DigestAlgorithm, text = "hello"): string {
  return createHash(algorithm).update(text).digest("base64");
}

function expectedOf(algorithm: DigestAlgorithm, text = "hello"): ExpectedDigest {
  return { algorithm, bytes: Uint8Array.from(createHash(algorithm).update(text).digest()) };
}

describe("Upload-Checksum (R 3.11)", () => {
  const checksumOf = (value: string, available?: readonly DigestAlgorithm[]) =>
    readChecksum(new Headers({ "Upload-Checksum": value }), available);

  it("may be absent", () => {
    expect(readChecksum(new Headers())).toEqual([]);
  });

  it.each(ALGORITHMS)("may be one by %s", (algorithm) => {
    expect(checksumOf(`${algorithm} ${digestOf(algorithm)}`)).toEqual([expectedOf(algorithm)]);
  });

  it.each([
    "",
    "sha1",
    "sha1 ",
    `SHA1 ${digestOf("sha1")}`,
    `sha-1 ${digestOf("sha1")}`,
    `crc32 ${base64("abcd")}`,
    `toString ${digestOf("sha1")}`,
    `sha1  ${digestOf("sha1")}`,
    `sha1:${digestOf("sha1")}`,
    `sha1 ${digestOf("sha256")}`,
    `sha1 ${digestOf("sha1").replace("=", "")}`,
    `sha1 ${digestOf("sha1")}, sha1 ${digestOf("sha1")}`,
    `md5 ${digestOf("md5").slice(0, -3)}R==`,
    `md5 ${createHash("md5").digest("hex")}`,
  ])("is not %j", async (value) => {
    expect(await refusalOf(() => checksumOf(value))).toBe("400 upload-checksum-invalid");
  });

  it("is refused if the runtime does not have the algorithm", async () => {
    expect(await refusalOf(() => checksumOf(`md5 ${digestOf("md5")}`, ["sha1"]))).toBe("400 upload-checksum-invalid");
    expect(await refusalOf(() => checksumOf(`sha1 ${digestOf("sha1")}`, []))).toBe("400 upload-checksum-invalid");
  });
});
