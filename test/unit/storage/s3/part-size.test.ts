import { describe, expect, it } from "vitest";
import { receive } from "../../../../src/storage/content.ts";
import { createContentReader } from "../../../../src/storage/object-store/content-reader.ts";
import { createPartMemory } from "../../../../src/storage/object-store/part-memory.ts";
import { toParts } from "../../../../src/storage/object-store/parts.ts";
import { toFittingPartBytes, toPartPlan } from "../../../../src/storage/s3/part-size.ts";
import { inChunks, noise, put } from "../../../../src/testing/storage/content.ts";
import { createFake } from "../../../support/s3/fake.ts";

const MEBIBYTE = 1_048_576;
const GIBIBYTE = 1024 ** 3;
const TEBIBYTE = 1024 ** 4;

describe("toFittingPartBytes", () => {
  it.each([
    [undefined, 8],
    [0, 8],
    [492 * GIBIBYTE, 8],
    [493 * GIBIBYTE, 16],
    [600 * GIBIBYTE, 64],
    [625 * GIBIBYTE, 64],
  ])("begins a file of %s bytes with parts of %i MiB", (size, mebibytes) => {
    expect(toFittingPartBytes(8 * MEBIBYTE, size)).toBe(mebibytes * MEBIBYTE);
  });

  it("refuses a file that does not fit into 10,000 parts of 64 MiB", () => {
    expect(() => toFittingPartBytes(8 * MEBIBYTE, 626 * GIBIBYTE)).toThrow(
      expect.objectContaining({ code: "too-large" }),
    );
  });
});

describe("toPartPlan", () => {
  it.each([5, 8, 64])("doubles parts of %i MiB up to 64 MiB, whatever is announced", (mebibytes) => {
    const sizes = [undefined, 1, 5 * TEBIBYTE].map((size) => {
      const { bytesOf } = toPartPlan(mebibytes * MEBIBYTE, size, true);
      return [1, 1000, 1001, 2001, 3001, 4001, 9000].map((number) => bytesOf(number) / MEBIBYTE);
    });
    const expected = [1, 1, 2, 4, 8, 16, 64].map((factor) => Math.min(factor * mebibytes, 64));
    expect(sizes).toEqual([expected, expected, expected]);
  });

  it.each([5, 8, 64])("reaches 5 TiB with 10,000 parts from %i MiB on, none above 5 GiB", (mebibytes) => {
    const { maxHeldParts, bytesOf } = toPartPlan(mebibytes * MEBIBYTE, 5 * TEBIBYTE, true);
    let sum = 0;
    let largest = 0;
    for (let number = 1; number <= 10_000; number += 1) {
      sum += bytesOf(number);
      largest = Math.max(largest, bytesOf(number));
    }
    expect(maxHeldParts).toBe(9000);
    expect(sum).toBeGreaterThanOrEqual(5 * TEBIBYTE);
    expect(largest).toBeLessThanOrEqual(5 * GIBIBYTE);
  });

  it("holds all parts of a file that fits into them", () => {
    expect(toPartPlan(8 * MEBIBYTE, 492 * GIBIBYTE, true).maxHeldParts).toBe(10_000);
    expect(toPartPlan(8 * MEBIBYTE, undefined, true).maxHeldParts).toBe(10_000);
  });

  it("refuses a file that no store keeps, and one that this runtime cannot stream", () => {
    expect(() => toPartPlan(8 * MEBIBYTE, 5 * TEBIBYTE + 1, true)).toThrow("10,000 parts");
    expect(() => toPartPlan(8 * MEBIBYTE, TEBIBYTE, false)).toThrow("10,000 parts");
    expect(() => toPartPlan(8 * MEBIBYTE, undefined, true).bytesOf(10_001)).toThrow("10,000 parts");
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
    const memory = createPartMemory(1000).open();
    const reader = createContentReader(receive(inChunks(bytes, 77), {}));
    const found: number[] = [];
    const joined: number[] = [];
    let last = false;
    for await (const part of toParts(reader, { bytesOf: () => 1000, maxParts: 4, size: undefined }, memory)) {
      expect(last).toBe(false);
      last = part.isLast;
      found.push(part.byteLength);
      joined.push(...part.bytes());
      part.release();
    }
    expect([found, last]).toEqual([lengths, true]);
    expect(Uint8Array.from(joined)).toEqual(bytes);
  });

  it("leaves what is after the last part that may be held", async () => {
    const reader = createContentReader(receive(inChunks(noise(2500, 1), 77), {}));
    const cut = { bytesOf: () => 1000, maxParts: 2, size: undefined };
    for await (const part of toParts(reader, cut, createPartMemory(5000).open())) expect(part.isLast).toBe(false);
    expect([reader.position(), await reader.hasMore()]).toEqual([2000, true]);
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
