import type { Miniflare } from "miniflare";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createR2Storage, type R2Bucket } from "../../src/storage/r2.ts";
import type { StorageCase } from "../../src/testing/storage/case.ts";
import { inChunks, noise } from "../../src/testing/storage/content.ts";
import { storageCases } from "../../src/testing/storage-cases.ts";
import { startSourceWorker } from "../support/workers/source-worker.ts";
import { areAll, isEveryday, isOfQuotas, LACKING } from "./bucket-cases.ts";

/**
 * Buckets of the cases, in turn: to list a few objects the simulator looks at all that a bucket has, and some cases
 * leave thousands.
 */
const CASE_BUCKETS = Array.from({ length: 24 }, (_, number) => `CASES_${number}`);

/** Plays the case that is asked for inside workerd, on a storage of its own in a bucket: below a prefix. */
const WORKER = `
import { createQuotaStorage } from "./src/storage/quota.ts";
import { createR2Storage } from "./src/storage/r2.ts";
import { createTrashStorage } from "./src/storage/trash.ts";
import { createVersionsStorage } from "./src/storage/versions.ts";
import { storageCases } from "./src/testing/storage-cases.ts";

const WRAPPERS = {
  kept: (storage) => createTrashStorage(createVersionsStorage(storage)),
  quota: (storage) => createQuotaStorage(storage, { folders: [{ path: "/", bytes: 2 ** 50, files: 2 ** 30 }] }),
};

export default {
  async fetch(request, env) {
    const query = new URL(request.url).searchParams;
    const bucket = env[query.get("bucket") ?? "FILES"];
    const fill = async (folder, count) => {
      for (let from = 0; from < count; from += 50) {
        const some = Array.from({ length: Math.min(50, count - from) }, (_, index) => from + index);
        await Promise.all(some.map((number) => bucket.put(prefix + folder.slice(1) + "/" + number, "x")));
      }
    };
    const prefix = query.get("prefix") ?? crypto.randomUUID() + "/";
    if (query.has("fill")) {
      await fill(query.get("fill"), Number(query.get("count")));
      return new Response("filled");
    }
    const name = decodeURIComponent(query.get("case"));
    const plain = createR2Storage(bucket, { prefix, partBytes: 5242880 });
    const wrapper = query.get("wrapper");
    const storage = wrapper === null ? plain : WRAPPERS[wrapper](plain);
    try {
      await storageCases.find((one) => one.name === name).run({ storage, strongTags: true, atomicConditions: true, properties: true, fill });
      return new Response("passed");
    } catch (error) {
      return new Response(error.stack ?? String(error));
    }
  },
};
`;

/** Not promised: R2 removes without conditions. It passes or fails by chance. */
const NOT_PROMISED = "of a replacement and a removal of one version only one succeeds";
const PATIENCE_MS = 120_000;

let worker: Miniflare;
let bucket: R2Bucket;
let played = 0;

async function start(): Promise<void> {
  worker = await startSourceWorker(WORKER, { r2Buckets: ["FILES", ...CASE_BUCKETS] });
  bucket = (await worker.getR2Bucket("FILES")) as unknown as R2Bucket;
}

beforeAll(start, 120_000);

afterAll(() => worker?.dispose());

/** Promises of exact moves that R2 keeps by its conditions. */
const KEPT_BY_CONDITIONS = [
  "copy: of several parallel copies to one new name exactly one succeeds",
  "move: of several parallel movers to one new name exactly one succeeds, and the others keep their source",
];

function isPlayed({ name, needs }: StorageCase): boolean {
  const isLacking = LACKING.includes(needs) && !KEPT_BY_CONDITIONS.includes(name);
  return !isLacking && name !== NOT_PROMISED;
}

/** Has the worker play a case, in a storage with a wrapper or none. */
async function play(name: string, wrapper?: "kept" | "quota"): Promise<void> {
  const wrapped = wrapper === undefined ? "" : `&wrapper=${wrapper}`;
  played += 1;
  const own = CASE_BUCKETS[played % CASE_BUCKETS.length];
  const query = `case=${encodeURIComponent(encodeURIComponent(name))}${wrapped}&bucket=${own}`;
  const answer = await worker.dispatchFetch(`http://worker/?${query}`);
  expect(await answer.text()).toBe("passed");
}

/** Without `nodejs_compat`. */
describe("the storage cases × R2 in workerd", { retry: 1 }, () => {
  for (const { name } of storageCases.filter((one) => isPlayed(one) && isEveryday(one))) {
    it(name, () => play(name), PATIENCE_MS);
  }
});

/** What the wrappers change, but what takes minutes. */
const isChanged = ({ name }: StorageCase): boolean =>
  /replac|writers/.test(name) && !/10,000|2,000|300 levels/.test(name);

describe("the storage cases × a trash around versions around R2 in workerd", { retry: 1 }, () => {
  for (const { name } of storageCases.filter((one) => isPlayed(one) && (areAll || isChanged(one)))) {
    it(name, () => play(name, "kept"), PATIENCE_MS);
  }
});

describe("the storage cases × createQuotaStorage around R2 in workerd, within its limits", { retry: 1 }, () => {
  for (const { name } of storageCases.filter((one) => isPlayed(one) && isOfQuotas(one))) {
    it(name, () => play(name, "quota"), PATIENCE_MS);
  }
});

// Miniflare only simulates R2: on a busy machine it sometimes drops a request.
describe("the R2 storage", { retry: 1 }, () => {
  const PART = 5_242_880;

  // On a busy machine an answer may reach Miniflare late. All later ones are then taken for those before them, so a
  // second try needs a new one.
  beforeEach(async ({ task }) => {
    if (!task.result?.retryCount) return;
    await worker.dispose();
    await start();
  });

  /** A storage below a prefix of its own, and what was asked of the bucket. */
  function createWatched(broken: Partial<Record<"uploadPart" | "complete", Error>> = {}) {
    const calls: string[] = [];
    const prefix = `${crypto.randomUUID()}/`;
    const watched: R2Bucket = {
      head: (key) => bucket.head(key),
      get: (key, options) => bucket.get(key, options),
      list: (options) => bucket.list(options),
      put(key, value, options) {
        calls.push(`put ${value.byteLength}`);
        return bucket.put(key, value, options);
      },
      delete(keys) {
        calls.push(`delete ${keys.length}`);
        return bucket.delete(keys);
      },
      resumeMultipartUpload: (key, id) => bucket.resumeMultipartUpload(key, id),
      async createMultipartUpload(key) {
        const upload = await bucket.createMultipartUpload(key);
        return {
          uploadId: upload.uploadId,
          async uploadPart(partNumber, value) {
            calls.push(`part ${partNumber} ${value.byteLength}`);
            if (broken.uploadPart !== undefined && partNumber === 2) throw broken.uploadPart;
            return upload.uploadPart(partNumber, value);
          },
          async complete(parts) {
            calls.push(`complete ${parts.length}`);
            if (broken.complete !== undefined) throw broken.complete;
            return upload.complete(parts);
          },
          async abort() {
            calls.push("abort");
            await upload.abort();
          },
        };
      },
    };
    return { calls, prefix, storage: createR2Storage(watched, { prefix, partBytes: PART }) };
  }

  it("stores content of up to a part by one request, with a size and without", async () => {
    const { calls, storage } = createWatched();
    await storage.write("/sized", inChunks(noise(PART, 1), 1_000_000), { size: PART });
    await storage.write("/unsized", inChunks(noise(PART - 1, 1), 1_000_000));
    await storage.write("/empty", inChunks(noise(0, 1), 1));
    expect(calls).toEqual([`put ${PART}`, `put ${PART - 1}`, "put 0"]);
  });

  it.each([
    ["a size", 2 * PART + 7, [PART, PART, 7]],
    ["no size", 2 * PART, [PART, PART]],
  ])("stores longer content with %s in parts of one size but the last", async (kind, size, parts) => {
    const { calls, storage } = createWatched();
    const content = noise(size, 3);
    await storage.write("/file", inChunks(content, 999_983), kind === "a size" ? { size } : {});
    expect(calls).toEqual([...parts.map((bytes, index) => `part ${index + 1} ${bytes}`), `complete ${parts.length}`]);
    const { entry, body } = await storage.read("/file", { offset: PART - 3, length: 6 });
    expect(entry.size).toBe(size);
    expect(new Uint8Array(await new Response(body).arrayBuffer())).toEqual(content.slice(PART - 3, PART + 3));
  });

  it.each(["uploadPart", "complete"] as const)("aborts an upload whose %s fails, and is unavailable", async (step) => {
    const { calls, storage } = createWatched({ [step]: new Error("internal error (10001)") });
    const written = storage.write("/file", inChunks(noise(2 * PART, 1), 1_000_000));
    await expect(written).rejects.toMatchObject({ name: "StorageError", code: "unavailable" });
    expect(calls.at(-1)).toBe("abort");
    expect(await storage.stat("/file")).toBeUndefined();
  });

  it("aborts an upload whose content breaks off, with its very error", async () => {
    const { calls, storage } = createWatched();
    const cut = new Error("cut");
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield* inChunks(noise(2 * PART + 1, 1), 1_000_000);
      throw cut;
    }
    await expect(storage.write("/file", broken())).rejects.toBe(cut);
    expect(calls.at(-1)).toBe("abort");
    const controller = new AbortController();
    async function* aborting(): AsyncGenerator<Uint8Array> {
      yield* inChunks(noise(2 * PART + 1, 1), 1_000_000);
      controller.abort(cut);
    }
    await expect(storage.write("/file", aborting(), { signal: controller.signal })).rejects.toBe(cut);
    expect(calls.at(-1)).toBe("abort");
  });

  it("checks the conditions of longer content before it completes", async () => {
    const { calls, storage } = createWatched();
    async function* meanwhile(): AsyncGenerator<Uint8Array> {
      yield* inChunks(noise(2 * PART, 1), 1_000_000);
      await storage.write("/file", inChunks(noise(5, 1), 5));
    }
    const written = storage.write("/file", meanwhile(), { ifNoneMatch: "*" });
    await expect(written).rejects.toMatchObject({ code: "precondition-failed" });
    expect(calls.at(-1)).toBe("abort");
    expect((await storage.stat("/file"))?.size).toBe(5);
  });

  it("removes a folder by at most 1,000 keys at a time", async () => {
    const { calls, prefix, storage } = createWatched();
    await storage.createFolder("/many");
    // In the worker: from here each of them would take ten times as long.
    const filled = await worker.dispatchFetch(`http://worker/?fill=/many&count=1500&prefix=${prefix}`);
    expect(await filled.text()).toBe("filled");
    await storage.remove("/many");
    // The last one is of the folder's properties.
    expect(calls.filter((call) => call.startsWith("delete"))).toEqual(["delete 1000", "delete 501", "delete 1"]);
    expect(await storage.stat("/many")).toBeUndefined();
  });

  it("takes what others have made for files and folders, and keeps folders without markers", async () => {
    const { prefix, storage } = createWatched();
    const keys = ["a/b/c.txt", "both", "both.txt", "both/inside", "odd//name", "odd/./x", "z/"];
    for (const key of keys) await bucket.put(prefix + key, new Uint8Array(2));
    const root: string[] = [];
    for await (const { name, kind } of storage.list("/")) root.push(`${kind} ${name}`);
    expect(root.sort()).toEqual(["file both", "file both.txt", "folder a", "folder odd", "folder z"]);
    expect(await storage.stat("/a")).toMatchObject({ kind: "folder", modified: new Date(0) });
    expect((await storage.stat("/both"))?.kind).toBe("file");
    const odd = [];
    for await (const { name } of storage.list("/odd")) odd.push(name);
    expect(odd).toEqual([]);
    await storage.remove("/a/b/c.txt");
    expect((await storage.stat("/a/b"))?.kind).toBe("folder");
  });

  it("refuses what is no bucket, and options that cannot be", () => {
    expect(() => createR2Storage({} as R2Bucket)).toThrow(/^The option bucket /);
    for (const prefix of ["a", "/", "/a/", "a//", "../"]) {
      expect(() => createR2Storage(bucket, { prefix })).toThrow(/^The option prefix /);
    }
    for (const partBytes of [0, PART - 1, 1e9, Number.NaN]) {
      expect(() => createR2Storage(bucket, { partBytes })).toThrow(/^The option partBytes /);
    }
  });
});
