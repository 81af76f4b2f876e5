import type { Miniflare } from "miniflare";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createR2Storage, type R2Bucket } from "../../src/storage/r2.ts";
import { areSameBytes, bodyBytes, inChunks, noise } from "../../src/testing/storage/content.ts";
import { uploadCases } from "../../src/testing/upload-cases.ts";
import { beginUpload, uploadsOf } from "../../src/testing/uploads/setup.ts";
import { startSourceWorker } from "../support/workers/source-worker.ts";

const PART = 5_242_880;

/** Plays the case that is asked for inside workerd, on a storage of its own in the bucket: below a prefix. */
const WORKER = `
import { createR2Storage } from "./src/storage/r2.ts";
import { uploadCases } from "./src/testing/upload-cases.ts";
import { killAppend } from "./test/support/r2/killed-append.ts";

export default {
  async fetch(request, env) {
    const name = decodeURIComponent(new URL(request.url).searchParams.get("case"));
    const place = { bucket: env.FILES, prefix: crypto.randomUUID() + "/", partBytes: ${PART} };
    const open = () => createR2Storage(env.FILES, place);
    const kill = (...args) => killAppend(place, ...args);
    try {
      await uploadCases.find((one) => one.name === name).run({ storage: open(), open, kill, atomicConditions: true });
      return new Response("passed");
    } catch (error) {
      return new Response(error.stack ?? String(error));
    }
  },
};
`;

let worker: Miniflare;
let bucket: R2Bucket;

beforeAll(async () => {
  worker = await startSourceWorker(WORKER, { r2Buckets: ["FILES"] });
  bucket = (await worker.getR2Bucket("FILES")) as unknown as R2Bucket;
}, 120_000);

afterAll(() => worker?.dispose());

/** Without `nodejs_compat`. Miniflare only simulates R2: on a busy machine it sometimes drops a request. */
describe("the upload cases × R2 in workerd", { retry: 1 }, () => {
  for (const { name, needs } of uploadCases) {
    it.skipIf(needs === "join" || needs === "read")(
      name,
      async () => {
        const query = encodeURIComponent(encodeURIComponent(name));
        const answer = await worker.dispatchFetch(`http://worker/?case=${query}`);
        expect(await answer.text()).toBe("passed");
      },
      120_000,
    );
  }
});

describe("an upload in R2", { retry: 1 }, () => {
  it("is sent in parts of one size, whatever the requests are", async () => {
    const { storage } = createStorage();
    const bytes = noise(2 * PART + 100_000, 2);
    const { key } = await beginUpload(storage, "/file", { size: bytes.byteLength });
    let offset = 0;
    for (const size of [1, PART - 1, 3_000_000, PART]) {
      const part = bytes.subarray(offset, offset + size);
      offset = (await uploadsOf(storage).append(key, offset, inChunks(part, 100_000))).offset;
    }
    const entry = await uploadsOf(storage)
      .append(key, offset, inChunks(bytes.subarray(offset), 100_000))
      .then(() => uploadsOf(storage).complete(key));
    expect(entry).toEqual(await storage.stat("/file"));
    expect(areSameBytes(await bodyBytes((await storage.read("/file")).body), bytes)).toBe(true);
  });

  it("leaves nothing in the bucket but the file and what is known of it, and nothing after its discard", async () => {
    const { storage, prefix } = createStorage();
    const { key } = await beginUpload(storage, "/file");
    await uploadsOf(storage).append(key, 0, inChunks(noise(PART + 7, 1), 100_000));
    await uploadsOf(storage).complete(key);
    expect(await keysBelow(prefix)).toEqual([expect.stringMatching(/state\.json$/), "file"]);
    expect(await uploadsOf(storage).discard(key)).toBe("done");
    expect(await keysBelow(prefix)).toEqual(["file"]);
  });

  it("is lost when R2 has removed its parts, as after seven days", async () => {
    const begun: string[] = [];
    const { storage, prefix } = createStorage({
      async createMultipartUpload(key, options) {
        const upload = await bucket.createMultipartUpload(key, options);
        begun.push(upload.uploadId);
        return upload;
      },
    });
    const { key } = await beginUpload(storage, "/file");
    await uploadsOf(storage).append(key, 0, inChunks(noise(PART + 7, 1), 100_000));
    for (const id of begun) await bucket.resumeMultipartUpload(`${prefix}file`, id).abort();
    await expect(uploadsOf(storage).complete(key)).rejects.toMatchObject({ code: "not-found" });
    expect(await uploadsOf(storage).find(key)).toBeUndefined();
    expect(await keysBelow(prefix)).toEqual([expect.stringMatching(/state\.json$/)]);
    for await (const state of uploadsOf(storage).list()) expect(state).toMatchObject({ key, lost: true });
    expect(await uploadsOf(storage).discard(key)).toBe("unfinished");
    expect(await keysBelow(prefix)).toEqual([]);
  });
});

/** A storage below a prefix of its own. */
function createStorage(changed: Partial<R2Bucket> = {}) {
  const prefix = `${crypto.randomUUID()}/`;
  const own: R2Bucket = {
    head: (key) => bucket.head(key),
    get: (key, options) => bucket.get(key, options),
    put: (key, value, options) => bucket.put(key, value, options),
    delete: (keys) => bucket.delete(keys),
    list: (options) => bucket.list(options),
    createMultipartUpload: (key, options) => bucket.createMultipartUpload(key, options),
    resumeMultipartUpload: (key, id) => bucket.resumeMultipartUpload(key, id),
    ...changed,
  };
  return { prefix, storage: createR2Storage(own, { prefix, partBytes: PART }) };
}

async function keysBelow(prefix: string): Promise<readonly string[]> {
  const { objects } = await bucket.list({ prefix });
  return objects.map(({ key }) => key.slice(prefix.length));
}
