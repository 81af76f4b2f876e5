import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compareNames } from "../../../src/contracts/member-names.ts";
import type { StorageAdapter } from "../../../src/contracts/storage-adapter.ts";
import { createDiskStorage } from "../../../src/storage/disk.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { createFake } from "../../support/s3/fake.ts";
import { createTestService } from "../../support/service.ts";
import { overrideStorage } from "../../support/storage.ts";
import { amount } from "../../support/trust.ts";

let base: string;

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), "fileferry-pages-"));
});

afterAll(() => rm(base, { recursive: true }));

const STORAGES: Readonly<Record<string, () => Promise<StorageAdapter>>> = {
  memory: async () => createMemoryStorage(),
  disk: async () => createDiskStorage({ root: await mkdtemp(join(base, "disk-")), durability: "rename" }),
  S3: async () => createFake().storage,
  "an adapter of the six required methods": async () => {
    const memory = createMemoryStorage();
    return overrideStorage(memory, { list: (path) => memory.list(path) });
  },
};

interface Entry {
  readonly name: string;
}

const name = fc
  .string({ unit: fc.constantFrom("a", "b", "-", ".", "Z", "ä", "\uffee", "\u{1f600}"), minLength: 1, maxLength: 5 })
  .filter((text) => text !== "." && text !== "..");

describe.each(Object.entries(STORAGES))("the pages of any folder on %s", (_storage, create) => {
  it("are together the whole listing, sorted by name", async () => {
    const folder = fc.uniqueArray(fc.record({ name, isFolder: fc.boolean() }), {
      selector: (one) => one.name,
      maxLength: 25,
    });
    await fc.assert(
      fc.asyncProperty(folder, fc.integer({ min: 1, max: 9 }), async (members, limit) => {
        const files = Object.fromEntries(members.map((one) => [`/alice/f/${one.name}${one.isFolder ? "/" : ""}`, "x"]));
        const { call } = await createTestService({ storage: await create(), files: { "/alice/f/": "", ...files } });
        const read = async (target: string) => call("GET", target, { variant: "json" });
        const whole = (await read("/home/f/")).json<{ content: Entry[] }>().content;
        const found: Entry[] = [];
        for (let next: string | undefined = `/home/f/?limit=${limit}`; next !== undefined; ) {
          const page = await read(next);
          const { content } = page.json<{ content: Entry[] }>();
          next = /^<([^>]+)>/.exec(page.header("link") ?? "")?.[1];
          expect(content.length === limit || (next === undefined && content.length < limit)).toBe(true);
          found.push(...content);
        }
        expect(found).toEqual([...whole].sort((one, other) => compareNames(one.name, other.name)));
        expect(found.map((one) => one.name)).toEqual(members.map((one) => one.name).sort(compareNames));
      }),
      { numRuns: amount({ short: 12, long: 300 }) },
    );
  });
});
