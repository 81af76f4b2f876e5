import { describe, expect, it } from "vitest";
import { toJoinPlan } from "../../../src/storage/object-store/uploads/join-plan.ts";

const limits = { minPartBytes: 5, maxCopyBytes: 20 };
const GIBIBYTE = 1024 ** 3;

describe("toJoinPlan", () => {
  it.each([
    [[], []],
    [[0, 0], []],
    [[3], ["read a 0-3"]],
    [[5], ["copy a 0-5"]],
    [
      [20, 5],
      ["copy a 0-20", "copy b 0-5"],
    ],
    [[21], ["copy a 0-11", "copy a 11-21"]],
    [
      [3, 4],
      ["read a 0-3 b 0-2", "read b 2-4"],
    ],
    [
      [3, 7],
      ["read a 0-3 b 0-2", "copy b 2-7"],
    ],
    [
      [1, 1, 1, 1, 1, 6],
      ["read a 0-1 b 0-1 c 0-1 d 0-1 e 0-1", "copy f 0-6"],
    ],
    [
      [6, 0, 2],
      ["copy a 0-6", "read c 0-2"],
    ],
  ])("makes of objects with %j bytes the parts %j", (sizes, expected) => {
    const sources = sizes.map((bytes, index) => ({ key: String.fromCharCode(97 + index), etag: "", bytes }));
    const parts = toJoinPlan(sources, limits).map(({ isCopied, ranges }) => {
      const texts = ranges.map(({ source, first, bytes }) => `${source.key} ${first}-${first + bytes}`);
      return `${isCopied ? "copy" : "read"} ${texts.join(" ")}`;
    });
    expect(parts).toEqual(expected);
  });

  it("keeps every byte once, in parts that a store takes", () => {
    for (let seed = 1; seed < 500; seed += 1) {
      const sizes = Array.from({ length: (seed % 9) + 1 }, (_, index) => (seed * (index + 3) * 7919) % 61);
      const sources = sizes.map((bytes, index) => ({ key: String(index), etag: "", bytes }));
      const parts = toJoinPlan(sources, limits);
      const positions = parts.flatMap(({ ranges }) =>
        ranges.flatMap(({ source, first, bytes }) =>
          Array.from({ length: bytes }, (_, index) => `${source.key} ${first + index}`),
        ),
      );
      expect(positions).toEqual(sizes.flatMap((size, key) => Array.from({ length: size }, (_, at) => `${key} ${at}`)));
      for (const { ranges, isCopied, number } of parts) {
        const bytes = ranges.reduce((sum, range) => sum + range.bytes, 0);
        if (number < parts.length) expect(bytes).toBeGreaterThanOrEqual(5);
        expect(bytes).toBeLessThanOrEqual(isCopied ? 20 : 5);
        expect(ranges.length === 1 || !isCopied).toBe(true);
      }
    }
  });

  it("makes all parts but the last of one size where nothing is copied", () => {
    const sources = [3, 12, 0, 7].map((bytes, index) => ({ key: String(index), etag: "", bytes }));
    const parts = toJoinPlan(sources, { minPartBytes: 5, maxCopyBytes: undefined });
    const sizes = parts.map(({ ranges }) => ranges.reduce((sum, { bytes }) => sum + bytes, 0));
    expect(sizes).toEqual([5, 5, 5, 5, 2]);
    expect(parts.some(({ isCopied }) => isCopied)).toBe(false);
  });

  it("copies a large file in at most 10,000 parts, none above 5 GiB, and refuses one beyond 5 TiB", () => {
    const sizes = { minPartBytes: 5 * 1024 ** 2, maxCopyBytes: 128 * 1024 ** 2 };
    const plan = toJoinPlan([{ key: "a", etag: "", bytes: 5120 * GIBIBYTE }], sizes);
    expect(plan.length).toBeLessThanOrEqual(10_000);
    expect(Math.max(...plan.map(({ ranges: [range] }) => range?.bytes ?? 0))).toBeLessThan(5 * GIBIBYTE);
    const tooLarge = [{ key: "a", etag: "", bytes: 5120 * GIBIBYTE + 1 }];
    expect(() => toJoinPlan(tooLarge, sizes)).toThrow(expect.objectContaining({ code: "too-large" }));
    const tooMany = Array.from({ length: 10_001 }, (_, index) => ({ key: String(index), etag: "", bytes: 5 }));
    expect(() => toJoinPlan(tooMany, limits)).toThrow(expect.objectContaining({ code: "too-large" }));
  });
});
