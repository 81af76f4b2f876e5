import { createHash } from "node:crypto";
import type { Miniflare } from "miniflare";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { DigestAlgorithm } from "../../../src/platform/incremental-digest.ts";
import { startSourceWorker } from "../../support/workers/source-worker.ts";

const WORKER = `
import { createIncrementalDigest, digestAlgorithms } from "./src/platform/incremental-digest.ts";

export default {
  async fetch(request) {
    const digests = digestAlgorithms().map((algorithm) => [algorithm, createIncrementalDigest(algorithm)]);
    // One that is left behind does not fail the request.
    createIncrementalDigest("sha256").update(new Uint8Array(1));
    for await (const chunk of request.body) for (const [, digest] of digests) digest.update(chunk);
    const results = {};
    for (const [algorithm, digest] of digests) results[algorithm] = [...(await digest.digest())];
    return Response.json({ results, hasModules: globalThis.process?.getBuiltinModule !== undefined });
  },
};
`;

let worker: Miniflare;

beforeAll(async () => {
  worker = await startSourceWorker(WORKER);
});

afterAll(() => worker?.dispose());

it("workerd digests a body of some megabytes while it passes, without nodejs_compat", async () => {
  const body = new Uint8Array(5_000_003).map((_byte, index) => index % 251);
  const response = await worker.dispatchFetch("http://localhost/", { method: "POST", body });
  const { results, hasModules } = (await response.json()) as {
    readonly results: Readonly<Record<DigestAlgorithm, readonly number[]>>;
    readonly hasModules: boolean;
  };
  expect(hasModules).toBe(false);
  for (const algorithm of ["sha1", "sha256", "sha512", "md5"] as const) {
    expect([algorithm, results[algorithm]]).toEqual([algorithm, [...createHash(algorithm).update(body).digest()]]);
  }
});
