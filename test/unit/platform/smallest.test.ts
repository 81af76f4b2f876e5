import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createSmallest } from "../../../src/platform/smallest.ts";

const compare = (one: number, other: number): number => one - other;

describe("the smallest of many items", () => {
  it("are those of a sorted list, whatever comes in whatever parts", async () => {
    const parts = fc.array(fc.array(fc.integer({ min: -500, max: 500 }), { maxLength: 700 }), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(parts, fc.integer({ min: 1, max: 3000 }), async (items, count) => {
        const distinct = items.map((part, index) => [...new Set(part)].map((item) => item * 8 + index));
        const smallest = createSmallest(count, compare);
        for (const part of distinct) await smallest.add(part);
        expect(await smallest.sorted()).toEqual(distinct.flat().sort(compare).slice(0, count));
      }),
      { numRuns: 60 },
    );
  });

  it.each(["ascending", "descending"])("take the memory of twice as many, however many come: %s", async (order) => {
    const smallest = createSmallest(1000, compare);
    for (let start = 0; start < 100_000; start += 256) {
      const some = Array.from({ length: 256 }, (_, index) => start + index);
      await smallest.add(order === "ascending" ? some : some.map((item) => -item));
      expect(smallest.size()).toBeLessThanOrEqual(2256);
    }
  });
});
