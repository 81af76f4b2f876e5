import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  createIncrementalDigest,
  type DigestAlgorithm,
  digestAlgorithms,
  type IncrementalDigest,
} from "../../../src/platform/incremental-digest.ts";

const ALGORITHMS: readonly DigestAlgorithm[] = ["sha1", "sha256", "sha512", "md5"];

/** `DigestStream` as Cloudflare Workers has it, made of Node's hash. */
class DigestStream extends WritableStream<Uint8Array> {
  readonly digest: Promise<ArrayBuffer>;

  constructor(name: string) {
    const hash = createHash(name.replace("-", "").toLowerCase());
    let resolve: (digest: ArrayBuffer) => void = () => undefined;
    const digest = new Promise<ArrayBuffer>((fulfil) => {
      resolve = fulfil;
    });
    super({
      write: (chunk) => void hash.update(chunk),
      close: () => resolve(Uint8Array.from(hash.digest()).buffer),
    });
    this.digest = digest;
  }
}

const OF_WORKERS = { createHash: undefined, DigestStream };

async function hexOf(digest: IncrementalDigest | undefined, parts: readonly Uint8Array[]): Promise<string> {
  for (const part of parts) digest?.update(part);
  return Buffer.from((await digest?.digest()) ?? "none").toString("hex");
}

describe("an incremental digest", () => {
  it("is there for four algorithms, in the order that clients are told", () => {
    expect(digestAlgorithms()).toEqual(ALGORITHMS);
    expect(digestAlgorithms(OF_WORKERS)).toEqual(ALGORITHMS);
  });

  it.each([
    ["Node's hash", undefined],
    ["DigestStream", OF_WORKERS],
  ])("by %s does not depend on how the content is cut", async (_name, source) => {
    const contents = fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...ALGORITHMS), contents, async (algorithm, parts) => {
        const expected = createHash(algorithm).update(Buffer.concat(parts)).digest("hex");
        expect(await hexOf(createIncrementalDigest(algorithm, source), parts)).toBe(expected);
      }),
    );
  });

  it("lacks the algorithms that the runtime refuses", () => {
    const source = {
      createHash(name: string) {
        if (name === "md5") throw new Error("disabled for FIPS");
        return createHash(name);
      },
      DigestStream: undefined,
    };
    expect(digestAlgorithms(source)).toEqual(["sha1", "sha256", "sha512"]);
    expect(createIncrementalDigest("md5", source)).toBeUndefined();
  });

  it("is not there where the runtime has neither", () => {
    const source = { createHash: undefined, DigestStream: undefined };
    expect(digestAlgorithms(source)).toEqual([]);
    expect(createIncrementalDigest("sha256", source)).toBeUndefined();
  });
});
