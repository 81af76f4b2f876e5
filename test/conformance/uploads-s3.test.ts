import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { StorageAdapter } from "../../src/contracts/storage-adapter.ts";
import type { UploadKey } from "../../src/contracts/storage-uploads.ts";
import type { S3Fetch, S3StorageOptions } from "../../src/storage/s3.ts";
import { areSameBytes, bodyBytes, inChunks, noise } from "../../src/testing/storage/content.ts";
import { uploadCases } from "../../src/testing/upload-cases.ts";
import type { UploadCaseContext } from "../../src/testing/uploads/case.ts";
import { beginUpload, newKey, uploadsOf } from "../../src/testing/uploads/setup.ts";
import { killAppend } from "../support/s3/killed-append.ts";
import { createBucket, type S3Bucket, s3Missing } from "../support/s3/server.ts";

const MEBIBYTE = 1_048_576;
const PATIENCE_MS = 120_000;

let bucket: S3Bucket;
let storages = 0;

describe.skipIf(s3Missing !== undefined)(`the upload cases × S3${s3Missing ? ` (${s3Missing})` : ""}`, () => {
  beforeAll(async () => {
    bucket = await createBucket();
  }, 120_000);

  for (const { name, needs, run } of uploadCases) {
    it.skipIf(needs === "read").concurrent(name, () => run(createContext()), PATIENCE_MS);
  }
});

describe.skipIf(s3Missing !== undefined)("an upload in S3", () => {
  it(
    "goes on in another process from the parts that a killed one has noted",
    async () => {
      const { storage, open } = createStorage();
      const bytes = noise(17 * MEBIBYTE, 3);
      const { key } = await beginUpload(storage, "/file", { size: bytes.byteLength });
      await killAppend((fetch) => open({ fetch }), { key, offset: 0, bytes, death: "note" });
      const offset = (await uploadsOf(storage).find(key))?.offset ?? -1;
      expect(offset % (5 * MEBIBYTE)).toBe(0);
      expect(offset).toBeGreaterThanOrEqual(5 * MEBIBYTE);
      await uploadsOf(storage).append(key, offset, inChunks(bytes.subarray(offset), 100_000));
      const entry = await uploadsOf(storage).complete(key);
      expect(entry).toEqual(await storage.stat("/file"));
      expect(areSameBytes(await bodyBytes((await storage.read("/file")).body), bytes)).toBe(true);
    },
    PATIENCE_MS,
  );

  it("leaves nothing in the bucket but the file and what is known of it, and nothing after its discard", async () => {
    const { storage, prefix } = createStorage();
    const { key } = await beginUpload(storage, "/file");
    const bytes = noise(6 * MEBIBYTE, 4);
    await uploadsOf(storage).append(key, 0, inChunks(bytes, 100_000));
    await uploadsOf(storage).complete(key);
    expect(await keysBelow(prefix)).toEqual([expect.stringMatching(/state\.json$/), "file"]);
    expect(await uploadsOf(storage).discard(key)).toBeDefined();
    expect(await keysBelow(prefix)).toEqual(["file"]);
    const other = await beginUpload(storage, "/other");
    await uploadsOf(storage).append(other.key, 0, inChunks(bytes, 100_000));
    expect(await uploadsOf(storage).discard(other.key)).toBe("unfinished");
    expect(await keysBelow(prefix)).toEqual(["file"]);
    expect((await bucket.openUploads()).filter((key) => key.startsWith(prefix))).toEqual([]);
  });

  it(
    "is joined with others of any size in the store, again and again, and its discard leaves nothing",
    async () => {
      const { storage, prefix } = createStorage();
      const uploads = uploadsOf(storage);
      const { join } = uploads;
      const sizes = [11 * MEBIBYTE + 5, 3, 5 * MEBIBYTE, 0, 200_000, 7 * MEBIBYTE];
      const contents = sizes.map((size, index) => noise(size, index + 1));
      const keys = await Promise.all(contents.map((bytes, index) => appendPartial(storage, `/part-${index}`, bytes)));
      const order = [1, 0, 2, 3, 4, 0, 5, 1];
      for (const name of ["/one", "/two"]) {
        const entry = await join?.(
          order.map((index) => keys[index] ?? newKey()),
          name,
        );
        expect(entry).toEqual(await storage.stat(name));
        const expected = Buffer.concat(order.map((index) => contents[index] ?? new Uint8Array(0)));
        expect(areSameBytes(await bodyBytes((await storage.read(name)).body), expected)).toBe(true);
      }
      for (const [index, key] of keys.entries()) expect((await uploads.find(key))?.offset).toBe(sizes[index]);
      for (const key of keys) expect(await uploads.discard(key)).toBeDefined();
      expect((await keysBelow(prefix)).toSorted()).toEqual(["one", "two"]);
      expect((await bucket.openUploads()).filter((key) => key.startsWith(prefix))).toEqual([]);
    },
    PATIENCE_MS,
  );

  it("is lost when the store has removed its parts, as by the rule of a bucket", async () => {
    const { storage, prefix } = createStorage();
    const { key } = await beginUpload(storage, "/file");
    await uploadsOf(storage).append(key, 0, inChunks(noise(6 * MEBIBYTE, 5), 100_000));
    await abortUploadsOf(`${prefix}/file`);
    expect(await uploadsOf(storage).find(key)).toBeUndefined();
    expect(await keysBelow(prefix)).toEqual([expect.stringMatching(/state\.json$/)]);
    for await (const state of uploadsOf(storage).list()) expect(state).toMatchObject({ key, lost: true });
    expect(await uploadsOf(storage).discard(key)).toBe("unfinished");
    expect(await keysBelow(prefix)).toEqual([]);
  });

  it("has a folder that no path leads to", async () => {
    const { storage } = createStorage();
    await beginUpload(storage, "/file");
    const hidden = "/.fileferry-uploads.tmp";
    expect(await storage.stat(hidden)).toBeUndefined();
    await expect(storage.createFolder(hidden)).rejects.toMatchObject({ code: "bad-name" });
    for await (const { name } of storage.list("/")) expect(name).toBeUndefined();
  });

  afterAll(async () => {
    for (const key of (await bucket?.openUploads()) ?? []) await abortUploadsOf(key);
  });
});

/** A folder of the bucket for itself, and storages in it. */
function createStorage() {
  storages += 1;
  const prefix = `uploads/${storages}`;
  const open = (options: Partial<S3StorageOptions> = {}) =>
    bucket.storage({ prefix, partBytes: 5 * MEBIBYTE, ...options });
  return { storage: open(), open, prefix };
}

function createContext(): UploadCaseContext {
  const { storage, open } = createStorage();

  async function kill(
    key: Parameters<NonNullable<UploadCaseContext["kill"]>>[0],
    offset: number,
    bytes: Uint8Array,
    { verify }: { readonly verify: boolean },
  ): Promise<void> {
    const openDying = (fetch: S3Fetch) => open({ fetch });
    await killAppend(openDying, {
      key,
      offset,
      bytes,
      death: verify ? "part" : "note",
      ...(verify && { verify: async () => undefined }),
    });
  }

  return { storage, open: async () => open(), kill, atomicConditions: true, join: true };
}

/** Creates an upload that is to be joined, with all of its bytes. */
async function appendPartial(storage: StorageAdapter, path: string, bytes: Uint8Array): Promise<UploadKey> {
  const uploads = uploadsOf(storage);
  const expires = new Date(Date.now() + 3_600_000);
  const { key } = await uploads.create(newKey(), path, { note: "", expires, isPartial: true });
  await uploads.append(key, 0, inChunks(bytes, 100_000));
  return key;
}

async function keysBelow(prefix: string): Promise<readonly string[]> {
  const keys = await bucket.keys();
  return keys.filter((key) => key.startsWith(`${prefix}/`)).map((key) => key.slice(prefix.length + 1));
}

async function abortUploadsOf(key: string): Promise<void> {
  const text = await (await bucket.ask("GET", `?uploads&prefix=${encodeURIComponent(key)}`)).text();
  for (const [, id = ""] of text.matchAll(/<UploadId>([^<]*)<\/UploadId>/g)) {
    await bucket.ask("DELETE", `${key}?uploadId=${encodeURIComponent(id)}`);
  }
}
