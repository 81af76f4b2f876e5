import { hasCode } from "../../contracts/storage-adapter.ts";
import type { StorageAttributes } from "../../contracts/storage-attributes.ts";
import { expect, expectEqual, expectRefusal } from "../expectations.ts";
import type { StorageCase, StorageCaseContext } from "./case.ts";
import { namesIn, put, readFileText } from "./content.ts";

const NAME = "{urn:example}name";

/** Cases about properties and times. */
export const attributeCases: readonly StorageCase[] = [
  {
    name: "properties: a new file and a new folder have none",
    needs: "properties",
    async run({ storage }) {
      await makeBoth({ storage });
      for (const path of ["/file", "/folder"]) {
        expectEqual([...(await attributesOf({ storage }).properties(path))], [], "properties");
        expectEqual((await storage.stat(path))?.hasProperties, undefined, "hasProperties");
      }
    },
  },
  {
    name: "properties: are set, changed and removed on files and folders",
    needs: "properties",
    async run({ storage }) {
      await makeBoth({ storage });
      const attributes = attributesOf({ storage });
      for (const path of ["/file", "/folder"]) {
        const set = new Map([
          [NAME, "<x>one</x>"],
          ["other", "ünïcödé 文件 🚢 \n\t\"'&amp;"],
        ]);
        const entry = await attributes.change(path, { properties: set });
        expectEqual(entry.hasProperties, true, "hasProperties of the result");
        expectEqual((await storage.stat(path))?.hasProperties, true, "hasProperties");
        expectEqual(sorted(await attributes.properties(path)), sorted(set), "properties");
        await attributes.change(path, { properties: new Map([[NAME, "two"]]) });
        expectEqual((await attributes.properties(path)).get(NAME), "two", "the changed one");
        await attributes.change(path, {
          properties: new Map([
            [NAME, undefined],
            ["other", undefined],
            ["missing", undefined],
          ]),
        });
        expectEqual([...(await attributes.properties(path))], [], "properties in the end");
        expectEqual((await storage.stat(path))?.hasProperties, undefined, "hasProperties in the end");
      }
    },
  },
  {
    name: "properties: listings say which members have some, and show nothing else",
    needs: "properties",
    async run({ storage }) {
      await makeBoth({ storage });
      await attributesOf({ storage }).change("/file", { properties: new Map([[NAME, "x"]]) });
      const flags: unknown[] = [];
      for await (const { name, hasProperties } of storage.list("/")) flags.push([name, hasProperties ?? false]);
      expectEqual(
        flags.sort(),
        [
          ["file", true],
          ["folder", false],
        ],
        "members",
      );
      expectEqual(await namesIn(storage, "/folder"), [], "members of the folder");
    },
  },
  {
    name: "properties: a write keeps them, and the content and the entity-tag stay when they change",
    needs: "properties",
    async run({ storage }) {
      const { etag } = await put(storage, "/file", "one");
      const attributes = attributesOf({ storage });
      const changed = await attributes.change("/file", { properties: new Map([[NAME, "kept"]]) });
      expectEqual(changed.etag, etag, "entity-tag");
      expectEqual(await readFileText(storage, "/file"), "one", "text");
      const written = await put(storage, "/file", "two");
      expectEqual(written.hasProperties, true, "hasProperties of the written file");
      expectEqual((await attributes.properties("/file")).get(NAME), "kept", "property");
    },
  },
  {
    name: "properties: a removal removes them, also with the folder around",
    needs: "properties",
    async run({ storage }) {
      await makeBoth({ storage });
      await put(storage, "/folder/member", "x");
      const attributes = attributesOf({ storage });
      for (const path of ["/file", "/folder", "/folder/member"]) {
        await attributes.change(path, { properties: new Map([[NAME, "old"]]) });
      }
      await storage.remove("/file");
      await storage.remove("/folder");
      await makeBoth({ storage });
      await put(storage, "/folder/member", "x");
      for (const path of ["/file", "/folder", "/folder/member"]) {
        expectEqual([...(await attributes.properties(path))], [], `properties of ${path}`);
      }
    },
  },
  {
    name: "properties: a copy has them too, and a move takes them along",
    needs: "properties",
    async run({ storage }) {
      await makeBoth({ storage });
      await put(storage, "/folder/member", "x");
      await put(storage, "/old", "x");
      const attributes = attributesOf({ storage });
      for (const path of ["/file", "/folder", "/folder/member", "/old"]) {
        await attributes.change(path, { properties: new Map([[NAME, path]]) });
      }
      const textsOf = async (path: string) => [...(await attributes.properties(path))].flat();
      await storage.copy("/folder", "/copy");
      await storage.copy("/file", "/old", { replace: true });
      expectEqual(await textsOf("/copy/member"), [NAME, "/folder/member"], "copied member");
      expectEqual(await textsOf("/old"), [NAME, "/file"], "replaced file");
      await attributes.change("/copy", { properties: new Map([[NAME, "other"]]) });
      expectEqual(await textsOf("/folder"), [NAME, "/folder"], "the original");
      await storage.move("/folder", "/moved");
      expectEqual(await textsOf("/moved"), [NAME, "/folder"], "moved folder");
      expectEqual(await textsOf("/moved/member"), [NAME, "/folder/member"], "moved member");
      await put(storage, "/plain", "x");
      await storage.move("/plain", "/old", { replace: true });
      expectEqual(await textsOf("/old"), [], "replaced by a file without properties");
      await storage.createFolder("/folder");
      expectEqual(await textsOf("/folder"), [], "a new folder with the old name");
    },
  },
  {
    name: "properties: of 30 changes at the same time none is lost",
    needs: "properties",
    async run({ storage }) {
      await put(storage, "/file", "x");
      const attributes = attributesOf({ storage });
      const names = Array.from({ length: 30 }, (_, number) => `{urn:example}n${number}`);
      await Promise.all(names.map((name) => attributes.change("/file", { properties: new Map([[name, name]]) })));
      expectEqual(
        sorted(await attributes.properties("/file")),
        sorted(names.map((name) => [name, name] as const)),
        "all",
      );
    },
  },
  {
    name: "properties: no-space for more than 100, and for more than 64 KiB, and nothing changes",
    needs: "properties",
    async run({ storage }) {
      await put(storage, "/file", "x");
      const attributes = attributesOf({ storage });
      await attributes.change("/file", { properties: new Map([[NAME, "kept"]]) });
      const many = new Map(Array.from({ length: 100 }, (_, number) => [`n${number}`, "x"] as const));
      const long = new Map([["long", "x".repeat(65_536)]]);
      for (const properties of [many, long])
        await expectRefusal(attributes.change("/file", { properties }), "no-space");
      expectEqual([...(await attributes.properties("/file"))].flat(), [NAME, "kept"], "properties");
      many.delete("n99");
      await attributes.change("/file", { properties: many });
      expectEqual((await attributes.properties("/file")).size, 100, "number of properties");
    },
  },
  {
    name: "attributes: not-found for a missing member, and TypeError for a path that is not canonical",
    needs: "properties",
    async run({ storage }) {
      await put(storage, "/file", "x");
      const attributes = attributesOf({ storage });
      const properties = new Map([[NAME, "x"]]);
      for (const path of ["/missing", "/missing/a", "/file/a"]) {
        await expectRefusal(attributes.properties(path), "not-found");
        await expectRefusal(attributes.change(path, { properties }), "not-found");
      }
      for (const path of ["", "a", "/a/", "/.."]) {
        for (const call of [attributes.properties(path), attributes.change(path, { properties })]) {
          const error: unknown = await call.catch((thrown: unknown) => thrown);
          expectEqual(error instanceof TypeError, true, `${JSON.stringify(path)} is a TypeError`);
        }
      }
    },
  },
  {
    name: "times: are set on a file and by a write, to the second or finer, and content and properties stay",
    needs: "times",
    async run({ storage }) {
      await put(storage, "/file", "content");
      const wanted = new Date(Date.UTC(2001, 2, 3, 4, 5, 6));
      const changed = await attributesOf({ storage }).change("/file", { modified: wanted });
      for (const entry of [changed, await storage.stat("/file")]) {
        expectEqual(toSecond(entry?.modified), toSecond(wanted), "time");
      }
      expectEqual(await readFileText(storage, "/file"), "content", "text");
      const written = await put(storage, "/new", "x", { modified: wanted });
      expectEqual(toSecond(written.modified), toSecond(wanted), "time of the written file");
      await put(storage, "/file", "later");
      const now = (await storage.stat("/file"))?.modified.getTime() ?? 0;
      expect(Math.abs(now - Date.now()) < 120_000, "a later write has the current time");
    },
  },
  {
    name: "times: two contents never have one entity-tag, also if both get the same time",
    needs: "times",
    async run({ storage }) {
      const modified = new Date(Date.UTC(2001, 2, 3, 4, 5, 6));
      const tags = new Set<string | undefined>();
      for (let round = 0; round < 20; round += 1) {
        tags.add((await put(storage, "/file", `${10 + round}`, { modified })).etag);
      }
      expectEqual(tags.size, 20, "number of entity-tags");
    },
  },
  {
    name: "times: one that the storage cannot keep is ignored by a write, and refused as a change, and no tag is used twice",
    needs: "times",
    async run({ storage }) {
      const tags = new Set<string | undefined>();
      for (const modified of FAR_TIMES) {
        for (let round = 0; round < 5; round += 1) {
          tags.add((await put(storage, "/file", `${10 + round}`, { modified })).etag);
        }
        const before = await storage.stat("/file");
        const changed = await attributesOf({ storage })
          .change("/file", { modified })
          .catch((error: unknown) => (hasCode(error, "unsupported") ? undefined : error));
        const wanted = toSecond(changed === undefined ? before?.modified : modified);
        expectEqual(toSecond((await storage.stat("/file"))?.modified), wanted, `time, after ${modified.toISOString()}`);
      }
      expectEqual(tags.size, 5 * FAR_TIMES.length, "number of entity-tags");
    },
  },
];

/** Not all file systems can keep them: some begin in 1970 or 1980, some end in 2038, 2107 or 2446. */
const FAR_TIMES = ["0001-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "2500-01-01T00:00:00Z", "9999-12-31T23:59:59Z"].map(
  (text) => new Date(text),
);

async function makeBoth({ storage }: Pick<StorageCaseContext, "storage">): Promise<void> {
  await put(storage, "/file", "x");
  await storage.createFolder("/folder");
}

function attributesOf({ storage }: Pick<StorageCaseContext, "storage">): StorageAttributes {
  if (storage.attributes === undefined) throw new Error("The storage has no attributes");
  return storage.attributes;
}

function sorted(properties: Iterable<readonly [string, string]>): readonly (readonly [string, string])[] {
  return [...properties].sort(([one], [other]) => (one < other ? -1 : 1));
}

function toSecond(time: Date | undefined): number {
  return Math.floor((time?.getTime() ?? 0) / 1000);
}
