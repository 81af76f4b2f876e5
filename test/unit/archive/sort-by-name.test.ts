import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sortByName } from "../../../src/archive/sort-by-name.ts";

describe("sorting members by name", () => {
  it("gives the order of UTF-16 code units, for any number of them", async () => {
    const names = fc.array(fc.string({ unit: "binary", maxLength: 3 }), { maxLength: 50 });
    await fc.assert(
      fc.asyncProperty(names, fc.integer({ min: 1, max: 300 }), async (some, times) => {
        const members = Array.from({ length: times }, (_, round) =>
          some.map((name) => ({ name: name + (round % 7) })),
        ).flat();
        const sorted = (await sortByName(members)).map(({ name }) => name);
        expect(sorted).toEqual(members.map(({ name }) => name).sort());
      }),
      { numRuns: 50 },
    );
  });

  it("lets others have their turn between", async () => {
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 0);
    await sortByName(Array.from({ length: 50_000 }, (_, index) => ({ name: `${(index * 7919) % 50_000}` })));
    clearInterval(timer);
    expect(turns).toBeGreaterThan(5);
  });
});
