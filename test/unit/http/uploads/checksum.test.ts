import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createError } from "../../../../src/http/errors.ts";
import { readChecksum, readDigests } from "../../../../src/http/uploads/checksum.ts";
import type { ExpectedDigest } from "../../../../src/http/uploads/demand.ts";
import { verifyContent } from "../../../../src/http/uploads/verify-content.ts";
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

describe.each(["Content-Digest", "Repr-Digest"] as const)("%s (R 4.8)", (name) => {
  const digestsOf = (value: string, available?: readonly DigestAlgorithm[]) =>
    readDigests(new Headers({ [name]: value }), name, available);

  it("has the digests that are verified, and others", () => {
    expect(readDigests(new Headers(), name)).toEqual([]);
    expect(digestsOf(`sha-256=:${digestOf("sha256")}:`)).toEqual([expectedOf("sha256")]);
    expect(digestsOf(`md5=:YQ==:, sha-512=:${digestOf("sha512")}:, new=1, sha-256=:${digestOf("sha256")}:;p`)).toEqual([
      expectedOf("sha256"),
      expectedOf("sha512"),
    ]);
    expect(digestsOf("md5=:YQ==:, unixsum=?1")).toEqual([]);
    expect(digestsOf(`sha-256=:${digestOf("sha256")}:`, [])).toEqual([]);
  });

  it.each([
    "sha-256",
    `sha-256=${digestOf("sha256")}`,
    `sha-256=:${digestOf("sha512")}:`,
    "sha-512=::",
    `sha-256=:${digestOf("sha256")}`,
    `sha-256=:${digestOf("sha256")}:,`,
    `SHA-256=:${digestOf("sha256")}:`,
    "md5=",
  ])("is not %j", async (value) => {
    expect(await refusalOf(() => digestsOf(value))).toBe("400 upload-digest-invalid");
  });
});

describe("the verification of content", () => {
  const mismatch = () => createError("upload-checksum-mismatch");

  async function* cut(...parts: readonly string[]): AsyncGenerator<Uint8Array> {
    for (const part of parts) yield new TextEncoder().encode(part);
  }

  async function readAll(content: AsyncIterable<Uint8Array>): Promise<string> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of content) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  }

  it("passes content with its digests, unchanged", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string()), fc.subarray([...ALGORITHMS]), async (parts, algorithms) => {
        const expected = algorithms.map((algorithm) => expectedOf(algorithm, parts.join("")));
        const { content, verify } = verifyContent(cut(...parts), expected, mismatch);
        expect(await readAll(content)).toBe(Buffer.from(parts.join("")).toString());
        await verify();
      }),
    );
  });

  it("refuses content without one of its digests", async () => {
    const expected = [expectedOf("sha256"), expectedOf("md5", "other")];
    const { content, verify } = verifyContent(cut("hel", "lo"), expected, mismatch);
    expect(await readAll(content)).toBe("hello");
    expect(await refusalOf(verify)).toBe("460 upload-checksum-mismatch");
  });

  it("refuses what was read of content that broke off", async () => {
    const { content, verify } = verifyContent(cut("hel", "lo"), [expectedOf("sha1")], mismatch);
    await content.next();
    await content.return();
    expect(await refusalOf(verify)).toBe("460 upload-checksum-mismatch");
  });
});
