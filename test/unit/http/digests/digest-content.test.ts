import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { digestExpected, verifyContent } from "../../../../src/http/digests/digest-content.ts";
import type { ExpectedDigest } from "../../../../src/http/digests/digest-headers.ts";
import { createError } from "../../../../src/http/errors.ts";
import type { DigestAlgorithm } from "../../../../src/platform/incremental-digest.ts";
import { refusalOf } from "../uploads/refusals.ts";

const ALGORITHMS: readonly DigestAlgorithm[] = ["sha1", "sha256", "sha512", "md5"];

function expectedOf(algorithm: DigestAlgorithm, text = "hello"): ExpectedDigest {
  return { algorithm, bytes: Uint8Array.from(createHash(algorithm).update(text).digest()) };
}

async function* cut(...parts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield new TextEncoder().encode(part);
}

async function readAll(content: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of content) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

describe("the verification of content", () => {
  const mismatch = () => createError("upload-checksum-mismatch");

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

describe("content with expected digests", () => {
  it("ends if it has them, and tells what was wanted besides", async () => {
    const { content, digests } = digestExpected(cut("hel", "lo"), [expectedOf("sha256")], ["sha512", "sha256"]);
    expect(await readAll(content)).toBe("hello");
    expect([...(await digests())].map(([algorithm, bytes]) => ({ algorithm, bytes: new Uint8Array(bytes) }))).toEqual([
      expectedOf("sha256"),
      expectedOf("sha512"),
    ]);
  });

  it("fails at its end if one of them differs", async () => {
    const { content } = digestExpected(cut("hel", "lo"), [expectedOf("sha256"), expectedOf("sha512", "other")]);
    expect(await refusalOf(() => readAll(content))).toBe("400 upload-digest-mismatch");
  });

  it("fails if two digests of one algorithm differ", async () => {
    const { content } = digestExpected(cut("hello"), [expectedOf("sha256"), expectedOf("sha256", "other")]);
    expect(await refusalOf(() => readAll(content))).toBe("400 upload-digest-mismatch");
  });
});
