import { describe, expect, it } from "vitest";
import { createR2Storage, type R2Bucket, type R2Object } from "../../../src/storage/r2.ts";
import { inChunks, namesIn, noise, put } from "../../../src/testing/storage/content.ts";

const PART = 5_242_880;

/** A bucket in memory, without reading, and what changes were asked of it; each call comes back a turn later. */
function createBucket(broken: Partial<Pick<R2Bucket, "put" | "createMultipartUpload">> = {}) {
  const objects = new Map<string, R2Object>();
  const calls: string[] = [];
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const bucket: R2Bucket = {
    async head(key) {
      await turn();
      return objects.get(key) ?? null;
    },
    get: () => Promise.reject(new Error("not asked for")),
    async put(key, { byteLength: size }, { onlyIf } = {}) {
      calls.push(`put ${key}`);
      await turn();
      if (onlyIf !== undefined && "etagDoesNotMatch" in onlyIf && objects.has(key)) return null;
      const object = { key, size, httpEtag: '"t"', uploaded: new Date(0) };
      objects.set(key, object);
      return object;
    },
    async delete(keys) {
      await turn();
      for (const key of keys) objects.delete(key);
    },
    async list({ prefix = "", limit = 1000 }) {
      await turn();
      const keys = [...objects.keys()].filter((key) => key.startsWith(prefix)).sort();
      const found = keys.slice(0, limit).flatMap((key) => objects.get(key) ?? []);
      return { objects: found, delimitedPrefixes: [], truncated: keys.length > limit };
    },
    async createMultipartUpload(key) {
      let parts = 0;
      return {
        uploadId: "upload",
        async uploadPart(partNumber) {
          parts += 1;
          return { partNumber, etag: "e" };
        },
        async abort() {},
        complete: () => bucket.put(key, new Uint8Array(parts)) as Promise<R2Object>,
      };
    },
    resumeMultipartUpload() {
      throw new Error("not asked for");
    },
    ...broken,
  };
  return { objects, calls, storage: createR2Storage(bucket, { partBytes: PART }) };
}

describe("writes to R2", () => {
  it.each([1, 2 * PART])("release a source of %i bytes when the store fails at once", async (size) => {
    const fail = () => Promise.reject(new Error("internal error (10001)"));
    const { storage } = createBucket({ put: fail, createMultipartUpload: fail });
    let isReleased = false;
    async function* content(): AsyncGenerator<Uint8Array> {
      try {
        yield* inChunks(noise(size, 1), 1_000_000);
      } finally {
        isReleased = true;
      }
    }
    await expect(storage.write("/file", content())).rejects.toMatchObject({ code: "unavailable" });
    expect(isReleased).toBe(true);
  });

  it("put parts into one buffer, each when the one before has gone", async () => {
    const buffers = new Set<ArrayBufferLike>();
    const sizes: number[] = [];
    const { storage } = createBucket({
      createMultipartUpload: async (key) => ({
        uploadId: "upload",
        async uploadPart(partNumber, { buffer, byteLength }) {
          buffers.add(buffer);
          sizes.push(byteLength);
          return { partNumber, etag: "e" };
        },
        abort: async () => undefined,
        complete: async () => ({ key, size: 3 * PART, httpEtag: '"t"', uploaded: new Date(0) }),
      }),
    });
    await storage.write("/file", inChunks(noise(3 * PART, 1), 1_000_000), { size: 3 * PART });
    expect(sizes).toEqual([PART, PART, PART]);
    // While the first part is sent, the next one is not started. Its buffer is free afterwards.
    expect(buffers.size).toBe(1);
  });

  it("send parts of one size, whatever is announced", async () => {
    const sizes: number[] = [];
    const { storage } = createBucket({
      createMultipartUpload: async () => ({
        uploadId: "upload",
        async uploadPart(partNumber, { byteLength }) {
          sizes.push(byteLength);
          return { partNumber, etag: "e" };
        },
        abort: async () => undefined,
        complete: () => Promise.reject(new Error("not asked for")),
      }),
    });
    const written = storage.write("/file", inChunks(noise(2 * PART + 1, 1), 1_000_000), { size: 10_000 * PART });
    await expect(written).rejects.toMatchObject({ code: "incomplete" });
    expect(sizes).toEqual([PART, PART]);
  });

  it("refuse a size that does not fit into 10,000 parts, and take no content", async () => {
    const { storage } = createBucket();
    async function* content(): AsyncGenerator<Uint8Array> {
      yield await Promise.reject(new Error("taken"));
    }
    const written = storage.write("/file", content(), { size: 10_000 * PART + 1 });
    await expect(written).rejects.toMatchObject({ code: "too-large" });
  });
});

describe("removals from R2", () => {
  it("put no marker into a folder that has one", async () => {
    const { calls, storage } = createBucket();
    await storage.createFolder("/d");
    for (const name of ["1", "2", "3"]) await put(storage, `/d/${name}`, name);
    calls.length = 0;
    await Promise.all(["1", "2", "3"].map((name) => storage.remove(`/d/${name}`)));
    expect(calls).toEqual([]);
    expect(await storage.stat("/d")).toMatchObject({ kind: "folder" });
  });

  it("succeed where several find no marker at once, and R2 takes the first one's only", async () => {
    let puts = 0;
    const { objects, storage } = createBucket({
      async put(key) {
        puts += 1;
        if (puts > 1) throw new Error("put: Reduce your concurrent request rate for the same object. (10058)");
        const marker = { key, size: 0, httpEtag: '"t"', uploaded: new Date(0) };
        await new Promise((resolve) => setImmediate(resolve));
        objects.set(key, marker);
        return marker;
      },
    });
    for (const key of ["d/1", "d/2"]) objects.set(key, { key, size: 1, httpEtag: '"t"', uploaded: new Date(0) });
    await Promise.all([storage.remove("/d/1"), storage.remove("/d/2")]);
    expect(puts).toBe(2);
    expect([...objects.keys()]).toEqual(["d/"]);
  });
});

describe("keys of R2", () => {
  it("have up to 1,024 bytes, the marker's of a folder too", async () => {
    const parent = `${"n".repeat(250)}/`.repeat(4);
    const { objects, storage } = createBucket();
    objects.set(parent, { key: parent, size: 0, httpEtag: '"t"', uploaded: new Date(0) });
    const path = (bytes: number) => `/${parent}${"f".repeat(bytes - parent.length)}`;
    await put(storage, path(1024), "longest");
    expect(await namesIn(storage, `/${parent.slice(0, -1)}`)).toEqual(["f".repeat(1024 - parent.length)]);
    expect(await storage.stat(path(1024))).toMatchObject({ kind: "file" });
    await storage.remove(path(1024));
    await expect(storage.createFolder(path(1024))).rejects.toMatchObject({ code: "bad-name" });
    await storage.createFolder(path(1023));
    await expect(put(storage, path(1025), "x")).rejects.toMatchObject({ code: "bad-name" });
  });
});
