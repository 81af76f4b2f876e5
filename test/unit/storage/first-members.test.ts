import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareNames } from "../../../src/contracts/member-names.ts";
import type { StorageAdapter } from "../../../src/contracts/storage-adapter.ts";
import { put } from "../../../src/testing/storage/content.ts";
import { createFake } from "../../support/s3/fake.ts";

async function partOf(storage: StorageAdapter, after: string, limit: number): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const { name } of storage.list("/", { after, limit })) names.push(name);
  return names
    .filter((name) => compareNames(name, after) > 0)
    .sort(compareNames)
    .slice(0, limit);
}

/** Names with many beginnings in common, and characters before and after `/`. */
const name = fc.string({
  unit: fc.constantFrom("a", "-", ".", "0", "\uffee", "\u{1f600}"),
  minLength: 1,
  maxLength: 4,
});

describe("the first members of a folder in a bucket", () => {
  it("are the same as those of the whole listing", async () => {
    const members = fc.uniqueArray(
      name.filter((text) => text !== "." && text !== ".."),
      { maxLength: 14 },
    );
    await fc.assert(
      fc.asyncProperty(
        members,
        fc.nat(),
        fc.oneof(name, fc.constant("")),
        fc.nat({ max: 5 }),
        async (all, kinds, after, most) => {
          const { storage } = createFake();
          for (const [index, member] of all.entries()) {
            if ((kinds >> index) % 2 === 1) await storage.createFolder(`/${member}`);
            else await put(storage, `/${member}`, "x");
          }
          const sorted = all.filter((member) => compareNames(member, after) > 0).sort(compareNames);
          expect(await partOf(storage, after, most + 1)).toEqual(sorted.slice(0, most + 1));
        },
      ),
      { numRuns: 150 },
    );
  });

  it("need a request or two, however many members the folder has", async () => {
    const { storage, calls, objects } = createFake();
    for (let index = 10_000; index < 14_000; index++)
      objects.set(`file-${index}.txt`, { body: new Uint8Array(1), headers: new Map() } as never);
    expect(await partOf(storage, "", 3)).toEqual(["file-10000.txt", "file-10001.txt", "file-10002.txt"]);
    expect(calls.map(({ query }) => query.get("prefix"))).toEqual(["", "file/"]);
    const before = calls.length;
    expect(await partOf(storage, "file-13000.txt", 2)).toEqual(["file-13001.txt", "file-13002.txt"]);
    expect(calls.slice(before).map(({ query }) => [query.get("start-after"), query.get("max-keys")])).toEqual([
      ["file-13000.txt", "3"],
      // A page that begins later does not show whether there are properties.
      [".fileferry-properties/file-13000.txt", "3"],
    ]);
  });

  it("need no more requests than the whole listing, however many folders a name could belong to", async () => {
    const { storage, calls, objects } = createFake();
    const names = Array.from({ length: 30 }, (_, index) => `a${"-".repeat(index + 1)}`);
    for (const one of names) objects.set(one, { body: new Uint8Array(1), headers: new Map() } as never);
    await storage.createFolder("/a");
    const before = calls.length;
    expect(await partOf(storage, "", 20)).toEqual(["a", ...names.slice(0, 19)]);
    expect(calls.length - before).toBeLessThanOrEqual(8);
  });
});
