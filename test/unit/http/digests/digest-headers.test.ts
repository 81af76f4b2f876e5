import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type ExpectedDigest,
  readExpectedDigests,
  readVerifiableDigests,
  readWantedAlgorithm,
  toDigestField,
} from "../../../../src/http/digests/digest-headers.ts";
import type { DigestAlgorithm } from "../../../../src/platform/incremental-digest.ts";
import { refusalOf } from "../uploads/refusals.ts";

function digestOf(algorithm: DigestAlgorithm, text = "hello"): string {
  return createHash(algorithm).update(text).digest("base64");
}

function expectedOf(algorithm: DigestAlgorithm, text = "hello"): ExpectedDigest {
  return { algorithm, bytes: Uint8Array.from(createHash(algorithm).update(text).digest()) };
}

describe.each(["Content-Digest", "Repr-Digest"] as const)("%s (R 4.8)", (name) => {
  const digestsOf = (value: string, available?: readonly DigestAlgorithm[]) =>
    readVerifiableDigests(new Headers({ [name]: value }), name, available);

  it("has the digests that are verified, and others", () => {
    expect(readVerifiableDigests(new Headers(), name)).toEqual([]);
    expect(digestsOf(`sha-256=:${digestOf("sha256")}:`)).toEqual([expectedOf("sha256")]);
    expect(digestsOf(`md5=:YQ==:, sha-512=:${digestOf("sha512")}:, new=1, sha-256=:${digestOf("sha256")}:;p`)).toEqual([
      expectedOf("sha512"),
      expectedOf("sha256"),
    ]);
    expect(digestsOf("md5=:YQ==:, unixsum=?1")).toEqual([]);
    expect(digestsOf(`sha-256=:${digestOf("sha256")}:`, [])).toEqual([]);
  });

  it("has the last digest of an algorithm that is there twice", () => {
    expect(digestsOf(`sha-256=:${digestOf("sha256", "other")}:, sha-256=:${digestOf("sha256")}:`)).toEqual([
      expectedOf("sha256"),
    ]);
  });

  it("is refused if the runtime cannot verify it", async () => {
    const fields = (value: string): Headers => new Headers({ [name]: value });
    const refused = (available: readonly DigestAlgorithm[]): Promise<string | undefined> =>
      refusalOf(() => readExpectedDigests(fields(`sha-256=:${digestOf("sha256")}:`), () => available));
    expect([await refused([]), await refused(["sha512"])]).toEqual(Array(2).fill("501 digests-unsupported"));
    expect(readExpectedDigests(fields("md5=:YQ==:"), () => [])).toEqual([]);
  });

  it.each([
    "sha-256=(:YQ==:)",
    `sha-256=:${digestOf("sha256")}:${", a=1".repeat(500)}`,
    "sha-256=?1",
    "a=:Y Q=:, b",
    "\u00e4=1",
    "sha-256",
    `sha-256=${digestOf("sha256")}`,
    `sha-256=:${digestOf("sha512")}:`,
    "sha-512=::",
    `sha-256=:${digestOf("sha256")}`,
    `sha-256=:${digestOf("sha256")}:,`,
    `SHA-256=:${digestOf("sha256")}:`,
    "md5=",
    `sha-256=:${digestOf("sha256")}: sha-512=:${digestOf("sha512")}:`,
  ])("is not %j", async (value) => {
    expect(await refusalOf(() => digestsOf(value))).toBe("400 upload-digest-invalid");
  });
});

describe("both fields", () => {
  it("are verified", () => {
    const fields = new Headers({
      "Content-Digest": `sha-512=:${digestOf("sha512")}:`,
      "Repr-Digest": `sha-256=:${digestOf("sha256", "other")}:`,
    });
    expect(readExpectedDigests(fields)).toEqual([expectedOf("sha512"), expectedOf("sha256", "other")]);
  });
});

describe.each(["Want-Content-Digest", "Want-Repr-Digest"] as const)("%s (RFC 9530 4)", (name) => {
  it.each([
    ["sha-256=1", "sha256"],
    ["sha-512=10", "sha512"],
    ["sha-256=3, sha-512=10, unixsum=10", "sha512"],
    ["sha-512=3, sha-256=3", "sha512"],
    ["sha-256=0, sha-512=1", "sha512"],
    ["sha-256=0", undefined],
    ["sha-256=1, sha-256=0", undefined],
    ["sha-256=11", undefined],
    ["sha-256=-1", undefined],
    ["sha-256=1.5", undefined],
    ["sha-256=:YQ==:", undefined],
    ["sha-256", undefined],
    ["toString=5, __proto__=5", undefined],
    ["md5=10", undefined],
    ["sha-256=", undefined],
    ["", undefined],
  ])("%j wants %s", (value, algorithm) => {
    expect(readWantedAlgorithm(new Headers({ [name]: value }), name)).toBe(algorithm);
  });

  it("wants nothing that the runtime does not have", () => {
    const fields = new Headers({ [name]: "sha-256=10, sha-512=1" });
    expect(readWantedAlgorithm(fields, name, ["sha512"])).toBe("sha512");
    expect(readWantedAlgorithm(fields, name, [])).toBeUndefined();
    expect(readWantedAlgorithm(new Headers(), name)).toBeUndefined();
  });
});

describe("a field with a digest", () => {
  it("can be read again", () => {
    fc.assert(
      fc.property(fc.constantFrom("sha256", "sha512"), fc.string(), (algorithm, content) => {
        const digest = expectedOf(algorithm, content);
        const fields = new Headers({ "Repr-Digest": toDigestField(algorithm, digest.bytes) });
        expect(readExpectedDigests(fields)).toEqual([digest]);
      }),
    );
  });
});
