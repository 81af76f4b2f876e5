import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { StorageAdapter } from "../../src/contracts/storage-adapter.ts";
import { createAzureClient } from "../../src/storage/azure/client.ts";
import { createAzureCopier } from "../../src/storage/azure/copy.ts";
import { toAzureSettings } from "../../src/storage/azure/options.ts";
import { createAzureWriter } from "../../src/storage/azure/write.ts";
import { createPermits } from "../../src/storage/object-store/permits.ts";
import { createTrashStorage } from "../../src/storage/trash.ts";
import { createVersionsStorage } from "../../src/storage/versions.ts";
import { createFaultyStorage } from "../../src/testing/faulty-storage.ts";
import type { StorageCase } from "../../src/testing/storage/case.ts";
import { areSameBytes, bodyBytes, inChunks, noise, put, readFileText } from "../../src/testing/storage/content.ts";
import { storageCases } from "../../src/testing/storage-cases.ts";
import { type AzureContainer, azuriteMissing, createContainer } from "../support/azure/server.ts";
import { areAll, isForBuckets, KEPT_IN_ONE_PROCESS, LACKING, PATIENCE_MS, withQuota } from "./bucket-cases.ts";

const MEBIBYTE = 1_048_576;

let container: AzureContainer;

beforeAll(async () => {
  if (azuriteMissing === undefined) container = await createContainer();
}, 120_000);

afterAll(() => container?.stop());

const withAzurite = describe.skipIf(azuriteMissing !== undefined);
const suffix = azuriteMissing ? ` (${azuriteMissing})` : "";

/** The emulator looks at all its blobs for each call, so that cases of many blobs are tried in the long run only. */
const isQuick = ({ name }: StorageCase): boolean => areAll || !/10,000|2,000|1,000|300 /.test(name);

withAzurite(`the storage cases × Azure${suffix}`, () => {
  it("leaves out what no container can do", () => {
    const left = storageCases.filter((one) => !isForBuckets(one));
    expect(left.filter(({ needs }) => !LACKING.includes(needs))).toEqual([]);
    expect(storageCases.filter(({ name }) => KEPT_IN_ONE_PROCESS.includes(name))).toHaveLength(3);
  });

  for (const storageCase of storageCases.filter((one) => isForBuckets(one) && isQuick(one))) {
    it.concurrent(storageCase.name, () => play(storageCase), PATIENCE_MS);
  }
});

/** It hands on each call. Every run has it around memory and a disk: faulty-storage.test.ts. */
const createSound = (storage: StorageAdapter): StorageAdapter => createFaultyStorage(storage, () => undefined);

/** What wrappers change. */
const isChanging = ({ name }: StorageCase): boolean => areAll || /remov|replac|overwr/.test(name);

withAzurite.each([
  ["createTrashStorage", (storage: StorageAdapter) => createTrashStorage(storage)],
  ["createVersionsStorage", (storage: StorageAdapter) => createVersionsStorage(storage)],
  ["createQuotaStorage", withQuota],
  ...(areAll ? [["a faulty storage of which nothing fails", createSound] as const] : []),
] as const)("the storage cases × %s around Azure", (_name, wrap) => {
  for (const storageCase of storageCases.filter((one) => isForBuckets(one) && isQuick(one) && isChanging(one))) {
    it.concurrent(storageCase.name, () => play(storageCase, wrap), PATIENCE_MS);
  }
});

withAzurite("a container", () => {
  it("stores large files in blocks, completely or not at all, and copies them within the store and by reading", async () => {
    const storage = container.storage({ prefix: "large", blockBytes: MEBIBYTE });
    const bytes = noise(9 * MEBIBYTE + 7, 1);
    const { size, etag } = await storage.write("/a b.bin", inChunks(bytes, 100_000), { size: bytes.byteLength });
    expect([size, (await storage.stat("/a b.bin"))?.etag]).toEqual([bytes.byteLength, etag]);
    expect(areSameBytes(await bodyBytes((await storage.read("/a b.bin")).body), bytes)).toBe(true);

    async function* broken() {
      yield* inChunks(bytes, MEBIBYTE);
      throw new Error("broken");
    }
    await expect(storage.write("/a b.bin", broken())).rejects.toThrow("broken");
    await expect(storage.write("/a b.bin", inChunks(bytes, MEBIBYTE), { ifNoneMatch: "*" })).rejects.toMatchObject({
      code: "precondition-failed",
    });
    expect((await storage.stat("/a b.bin"))?.etag).toBe(etag);

    await storage.copy("/a b.bin", "/in store.bin");
    const settings = toAzureSettings({ ...container.options, blockBytes: MEBIBYTE });
    const client = createAzureClient(settings);
    const copier = createAzureCopier(client, createAzureWriter(client), { maxBytes: MEBIBYTE });
    const options = { isNew: true, permits: createPermits(4) };
    const copied = await copier.copyObject("large/a b.bin", "large/by reading.bin", options);
    expect(copied?.source).toBe(etag);
    for (const path of ["/in store.bin", "/by reading.bin"]) {
      expect(areSameBytes(await bodyBytes((await storage.read(path)).body), bytes)).toBe(true);
    }
    await expect(copier.copyObject("large/a b.bin", "large/by reading.bin", options)).rejects.toMatchObject({
      code: "already-exists",
    });
  });

  it("lets one of two large writes of one name win, and tells the other to try again", async () => {
    const storage = container.storage({ prefix: "two", blockBytes: MEBIBYTE });
    const contents = [noise(3 * MEBIBYTE, 1), noise(3 * MEBIBYTE, 2)] as const;
    const results = await Promise.allSettled(contents.map((bytes) => storage.write("/file", inChunks(bytes, 50_000))));
    const failed = results.flatMap((result) => (result.status === "rejected" ? [result.reason.code] : []));
    expect([[], ["unavailable"]]).toContainEqual(failed);
    const found = await bodyBytes((await storage.read("/file")).body);
    expect(contents.some((bytes) => areSameBytes(found, bytes))).toBe(true);
  });

  it("signs URLs that everyone can read for a time, with the headers of the service", async () => {
    const storage = container.storage({ prefix: "signed" });
    const { etag = "" } = await put(storage, "/é %25.html", "<script>");
    const request = { seconds: 60, contentType: "text/html", contentDisposition: `attachment; filename="a b"` };
    const url = (await storage.presignRead("/é %25.html", { ...request, etag })) ?? "";
    const response = await fetch(url);
    expect([response.status, await response.text()]).toEqual([200, "<script>"]);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "text/html",
      "content-disposition": `attachment; filename="a b"`,
      "cache-control": "private, no-cache",
    });
    expect((await fetch(url, { method: "PUT", body: "x", headers: { "x-ms-blob-type": "BlockBlob" } })).status).toBe(
      403,
    );
    expect(await storage.presignRead("/é %25.html", { ...request, etag: `"other"` })).toBeUndefined();
    expect(await storage.presignRead("/no", request)).toBeUndefined();
  });

  it("answers the check, and says what is wrong without the key", async () => {
    await container.storage().check();
    const { key } = container.options;
    const wrong = container.storage({ key: btoa("another key") });
    await expect(wrong.check()).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringMatching(
        /^The container files does not respond: GET container list: the store responded 403 \w+$/,
      ),
    });
    const missing = container.storage({ container: "missing" });
    const error: unknown = await missing.check().catch((reason: unknown) => reason);
    expect(String(error)).toContain("404 ContainerNotFound");
    expect(String(error)).not.toContain(key);
    await expect(missing.stat("/a")).rejects.toMatchObject({ code: "unavailable" });
  });

  it("keeps the file before if a write fails at any step, but the last", async () => {
    const storage = container.storage({ prefix: "faulty" });
    await put(storage, "/file", "before");
    for (const step of ["call", "chunk", "end"] as const) {
      const faulty = createFaultyStorage(storage, (at) => (at.step === step ? { fault: "error" } : undefined));
      await expect(put(faulty, "/file", "after")).rejects.toMatchObject({ code: "unavailable" });
      expect(await readFileText(storage, "/file")).toBe("before");
    }
  });

  it.each([
    [
      "the store is busy",
      async () => new Response(null, { status: 503, headers: { "x-ms-error-code": "ServerBusy" } }),
    ],
    [
      "responses are lost",
      async (url: string, init: RequestInit) => {
        await (await fetch(url, init)).arrayBuffer();
        throw new TypeError("lost");
      },
    ],
    [
      "bodies break",
      async (url: string, init: RequestInit) => {
        const { body, ...response } = await toParts(await fetch(url, init));
        return new Response(body === null ? null : broken(body), response);
      },
    ],
  ] as const)("does everything once, and completely, while at a third of the requests %s", async (_name, fail) => {
    const random = toRandom(7);
    let faults = 0;
    const storage = container.storage({
      prefix: `bad/${_name}`,
      blockBytes: MEBIBYTE,
      retries: 20,
      retryDelaySeconds: 0.01,
      maxRetryDelaySeconds: 0.02,
      async fetch(url, init) {
        if (random() > 1 / 3) return fetch(url, init);
        faults += 1;
        return fail(url, init);
      },
    });
    const bytes = noise(3 * MEBIBYTE + 5, 3);
    await storage.createFolder("/folder");
    await expect(storage.createFolder("/folder")).rejects.toMatchObject({ code: "already-exists" });
    const { etag = "" } = await storage.write("/folder/file", inChunks(bytes, 100_000), { ifNoneMatch: "*" });
    expect(areSameBytes(await bodyBytes((await storage.read("/folder/file")).body), bytes)).toBe(true);
    await storage.write("/folder/file", inChunks(bytes, 100_000), { ifMatch: [etag] });
    await expect(put(storage, "/folder/file", "", { ifMatch: [etag] })).rejects.toMatchObject({
      code: "precondition-failed",
    });
    expect(await storage.copy("/folder", "/copy")).toBe("created");
    expect(await storage.move("/copy/file", "/moved")).toBe("created");
    await storage.remove("/folder");
    const names: string[] = [];
    for await (const { name } of storage.list("/")) names.push(name);
    expect(names.sort()).toEqual(["copy", "moved"]);
    expect(areSameBytes(await bodyBytes((await storage.read("/moved")).body), bytes)).toBe(true);
    expect(faults).toBeGreaterThan(10);
  });
});

async function toParts({ body, status, headers }: Response) {
  return { body, status, headers };
}

/** The first bytes of a body, and then an error. */
function broken(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let isFirst = true;
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await reader.read();
      if (done || !isFirst) controller.error(new TypeError("broken"));
      else controller.enqueue(value);
      isFirst = false;
    },
  });
}

/** Numbers that look random, and are the same in each run. */
function toRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

/** Every case has a container for itself, and a folder of it. */
function play({ run }: StorageCase, wrap = (storage: StorageAdapter): StorageAdapter => storage): Promise<void> {
  return container.besides((own) => {
    const prefix = "case/of one";
    const storage = wrap(own.storage({ prefix }));

    async function fill(folder: string, count: number): Promise<void> {
      const numbers = Array.from({ length: count }, (_, number) => number);
      const writer = async (): Promise<void> => {
        for (let number = numbers.pop(); number !== undefined; number = numbers.pop()) {
          await own.put(`${prefix}${folder}/${number}`, "x");
        }
      };
      await Promise.all(Array.from({ length: 32 }, writer));
    }

    return run({ storage, strongTags: true, atomicConditions: true, properties: true, fill });
  });
}
