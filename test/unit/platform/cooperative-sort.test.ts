import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sortCooperatively } from "../../../src/platform/cooperative-sort.ts";

interface Item {
  readonly key: number;
  readonly place: number;
}

const byKey = (one: Item, other: Item): number => one.key - other.key;

/** The number of items, with few different keys or with as many keys as items. */
function makeItems(count: number, keys: number): readonly Item[] {
  return Array.from({ length: count }, (_, place) => ({ key: (place * 7919) % keys, place }));
}

describe("sortCooperatively", () => {
  it("gives the result of toSorted, for any number of items, and keeps the order of equal ones", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: 20_000 }),
        fc.integer({ min: 1, max: 20_000 }),
        async (count, keys) => {
          const items = makeItems(count, keys);
          expect(await sortCooperatively(items, byKey)).toEqual([...items].sort(byKey));
        },
      ),
      { numRuns: 50, examples: [0, 1, 2048, 2049, 4096, 4097, 6145, 8193].map((count) => [count, 5]) },
    );
  });

  it("does not change its input, and returns another array", async () => {
    for (const count of [0, 3, 5000]) {
      const items = Object.freeze([...makeItems(count, count || 1)]);
      const sorted = await sortCooperatively(items, byKey);
      expect(sorted).not.toBe(items);
      expect(items).toEqual(makeItems(count, count || 1));
    }
  });

  it("yields to the event loop", async () => {
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 0);
    await sortCooperatively(makeItems(50_000, 50_000), byKey);
    clearInterval(timer);
    expect(turns).toBeGreaterThan(5);
  });
});
