import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { mountStorage } from "../../../src/storage/mount.ts";
import { fillStorage } from "../../support/storage.ts";
import { amount } from "../../support/trust.ts";

/** Few names, of which some begin alike. */
const segment = fc.constantFrom("a", "ab", "b", "A", "a b");
const path = fc.array(segment, { minLength: 1, maxLength: 4 }).map((segments) => `/${segments.join("/")}`);

/** Where a path leads: the longest mount that it stands in, by whole segments. */
function findMount(places: readonly string[], path: string): string {
  const within = places.filter((place) => place === "/" || path === place || path.startsWith(`${place}/`));
  return within.reduce((best, place) => (place.length > best.length ? place : best), "/");
}

function isOnTheWay(path: string, places: readonly string[]): boolean {
  return places.some((place) => place === path || place.startsWith(`${path}/`));
}

async function* contentOf(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text);
}

describe("storages mounted into one tree", () => {
  it("get the paths below their own place, and no other's", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(path, { maxLength: 4 }), path, async (mounted, wanted) => {
        const places = ["/", ...mounted];
        const storages = new Map(places.map((place) => [place, createMemoryStorage()]));
        const tree = mountStorage(Object.fromEntries(storages));
        const place = findMount(places, wanted);
        const inner = wanted.slice(place.replace(/^\/$/, "").length);
        const isFixed = isOnTheWay(wanted, places);
        const storage = storages.get(place);
        if (isFixed || storage === undefined) {
          // What leads to a storage is a folder, whatever its own storage has there.
          expect((await tree.stat(wanted))?.kind).toBe("folder");
          await expect(tree.remove(wanted)).rejects.toMatchObject({ code: "denied" });
          return;
        }
        const parent = inner.slice(0, inner.lastIndexOf("/"));
        if (parent !== "") await fillStorage(storage, { [`${parent}/`]: "" });
        await tree.write(wanted, contentOf(wanted));
        expect((await storage.stat(inner))?.kind).toBe("file");
        storages.delete(place);
        for (const other of storages.values()) expect(await other.stat(wanted)).toBeUndefined();
        expect(await tree.stat(wanted)).toMatchObject({ kind: "file", name: wanted.split("/").at(-1) });
        await tree.remove(wanted);
        expect(await storage.stat(inner)).toBeUndefined();
      }),
      { numRuns: amount({ short: 100, long: 400 }) },
    );
  });
});
