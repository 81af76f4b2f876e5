import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sortCooperatively } from "../../../src/platform/cooperative-sort.ts";

interface Item {
  readonly key: number;
  readonly place: number;
}

const byKey = (one: Item, other: Item): number => one.key - other.key;

/** So many items with keys of which there are few, or as many. */
function makeItems(count: number, keys: number): readonly Item[] {
  return Array.from({ length: count }, (_, place) => ({ key: (place * 7919) % keys, place }));
}

describe("sorting in turns", () => {
  it("gives what sorting at once gives, equal ones in the order that they had, for any number of them", async () => {
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

  it("leaves its input as it is, and gives an array of its own", async () => {
    for (const count of [0, 3, 5000]) {
      const items = Object.freeze([...makeItems(count, count || 1)]);
      const sorted = await sortCooperatively(items, byKey);
      expect(sorted).not.toBe(items);
      expect(items).toEqual(makeItems(count, count || 1));
    }
  });

  it("lets others have their turn between", async () => {
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 0);
    await sortCooperatively(makeItems(50_000, 50_000), byKey);
    clearInterval(timer);
    expect(turns).toBeGreaterThan(5);
  });
});
