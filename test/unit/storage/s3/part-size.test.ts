import { describe, expect, it } from "vitest";
import { createPartBuffers, toParts } from "../../../../src/storage/object-store/parts.ts";
import { toPartBytes } from "../../../../src/storage/s3/part-size.ts";
import { inChunks, noise, put } from "../../../../src/testing/storage/content.ts";
import { createFake } from "../../../support/s3/fake.ts";

const MEBIBYTE = 1_048_576;
const TEBIBYTE = 1024 ** 4;

describe("toPartBytes", () => {
  it.each([5, 8, 64, 1024])("grows parts of %i MiB so that 5 TiB of unknown length fit into 10,000", (mebibytes) => {
    const plan = { partBytes: mebibytes * MEBIBYTE, size: undefined };
    let sum = 0;
    for (let number = 1; number <= 10_000; number += 1) sum += toPartBytes(number, plan);
    expect(sum).toBeGreaterThanOrEqual(5 * TEBIBYTE);
    expect(toPartBytes(1, plan)).toBe(plan.partBytes);
    expect(toPartBytes(10_000, plan)).toBeLessThanOrEqual(2048 * MEBIBYTE);
  });

  it("makes parts of one size where the length is known", () => {
    const plan = { partBytes: 8 * MEBIBYTE, size: 5 * TEBIBYTE };
    expect(toPartBytes(1, plan) * 10_000).toBeGreaterThanOrEqual(5 * TEBIBYTE);
    expect(toPartBytes(1, plan)).toBe(525 * MEBIBYTE);
    expect(toPartBytes(1, { ...plan, size: 10_000 * 8 * MEBIBYTE })).toBe(8 * MEBIBYTE);
  });

  it("refuses what no store keeps", () => {
    expect(() => toPartBytes(1, { partBytes: 8 * MEBIBYTE, size: 5 * TEBIBYTE + 1 })).toThrow("5 TiB");
    expect(() => toPartBytes(10_001, { partBytes: 8 * MEBIBYTE, size: undefined })).toThrow("5 TiB");
  });
});

describe("toParts", () => {
  it.each([
    [0, [0]],
    [1, [1]],
    [1000, [1000]],
    [1001, [1000, 1]],
    [3000, [1000, 1000, 1000]],
  ])("cuts %i bytes into %j", async (size, lengths) => {
    const bytes = noise(size, 1);
    const buffers = createPartBuffers();
    const found: number[] = [];
    const joined: number[] = [];
    let last = false;
    for await (const part of toParts(inChunks(bytes, 77), { bytesOf: () => 1000, size: undefined }, buffers)) {
      expect(last).toBe(false);
      last = part.isLast;
      found.push(part.bytes.byteLength);
      joined.push(...part.bytes);
      buffers.giveBack(part.bytes);
    }
    expect([found, last]).toEqual([lengths, true]);
    expect(Uint8Array.from(joined)).toEqual(bytes);
  });
});

describe("uploads in parts", () => {
  it("take an error inside a 200 for one, and end the upload", async () => {
    const methods: string[] = [];
    const { storage } = createFake(
      ({ method, query }) => {
        if (query.has("list-type") || method === "HEAD") return undefined;
        methods.push(`${method} ${[...query.keys()].join()}`);
        if (query.has("uploads"))
          return new Response("<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>");
        if (query.has("partNumber")) return new Response(null, { headers: { etag: '"p"' } });
        return method === "POST"
          ? new Response("<Error><Code>InternalError</Code></Error>")
          : new Response(null, { status: 204 });
      },
      { partBytes: 5 * MEBIBYTE, retries: 1 },
    );
    const written = storage.write("/file", inChunks(noise(6 * MEBIBYTE, 1), MEBIBYTE));
    await expect(written).rejects.toMatchObject({ code: "unavailable" });
    expect(methods.slice(-3)).toEqual(["POST uploadId", "POST uploadId", "DELETE uploadId"]);
  });

  it("are not started for content that fits into one part", async () => {
    const { storage, calls } = createFake();
    await storage.write("/file", inChunks(new Uint8Array(8 * MEBIBYTE), MEBIBYTE), { size: 8 * MEBIBYTE });
    await put(storage, "/small", "x");
    expect(calls.filter(({ method }) => method === "POST")).toEqual([]);
  });
});
