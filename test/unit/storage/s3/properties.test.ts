import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { compareNames } from "../../../../src/contracts/member-names.ts";
import type { StorageEntry } from "../../../../src/contracts/storage-adapter.ts";
import { createMemoryStorage } from "../../../../src/storage/memory.ts";
import { mountStorage } from "../../../../src/storage/mount.ts";
import type { S3Storage } from "../../../../src/storage/s3.ts";
import { namesIn, put } from "../../../../src/testing/storage/content.ts";
import { createFake, refusal } from "../../../support/s3/fake.ts";

const FOLDER = ".fileferry-properties";

async function setProperty(storage: S3Storage, path: string, name = "name"): Promise<StorageEntry | undefined> {
  return storage.attributes?.change(path, { properties: new Map([[name, name]]) });
}

async function namesOf(storage: S3Storage, path: string): Promise<readonly string[]> {
  return [...((await storage.attributes?.properties(path)) ?? [])].map(([name]) => name).sort();
}

/** Names with many beginnings in common, before and after the name of the reserved folder. */
const name = fc.string({ unit: fc.constantFrom("a", "-", ".", "0", "f", "\u{1f600}"), minLength: 1, maxLength: 4 });

describe("properties in S3", () => {
  it("are marked in listings and their parts as in stat, however long pages are", async () => {
    const members = fc.uniqueArray(
      name.filter((text) => text !== "." && text !== ".."),
      { maxLength: 14 },
    );
    const inputs = [members, fc.nat(), fc.nat(), fc.integer({ min: 1, max: 5 }), name] as const;
    await fc.assert(
      fc.asyncProperty(...inputs, async (all, kinds, marks, pageSize, after) => {
        const { storage } = createFake(({ query }) => {
          if (query.get("max-keys") === "1000") query.set("max-keys", String(pageSize));
          return undefined;
        });
        for (const [index, member] of all.entries()) {
          if ((kinds >> index) % 2 === 1) await storage.createFolder(`/${member}`);
          else await put(storage, `/${member}`, "x");
          if ((marks >> index) % 2 === 1) await setProperty(storage, `/${member}`);
        }
        const marked = all.filter((_, index) => (marks >> index) % 2 === 1).sort(compareNames);
        expect(await markedIn(storage)).toEqual(marked);
        const first = all
          .filter((member) => compareNames(member, after) > 0)
          .sort(compareNames)
          .slice(0, 3);
        const found = await markedIn(storage, { after, limit: 3 });
        expect(first.filter((member) => found.includes(member))).toEqual(first.filter((one) => marked.includes(one)));
      }),
      { numRuns: 100 },
    );
  });

  it("cost a listing no request if no member has any, and one if some have", async () => {
    const { storage, calls } = createFake();
    for (let index = 0; index < 20; index += 1) await put(storage, `/${index}`, "x");
    const listing = async (): Promise<number> => {
      const before = calls.length;
      await namesIn(storage, "/");
      return calls.length - before;
    };
    expect(await listing()).toBe(1);
    for (let index = 0; index < 20; index += 1) await setProperty(storage, `/${index}`);
    expect(await listing()).toBe(2);
  });

  it("are in a folder that clients can neither see, reach nor create", async () => {
    const { storage } = createFake();
    await storage.createFolder("/folder");
    await put(storage, "/file", "x");
    for (const path of ["/", "/folder", "/file"]) await setProperty(storage, path);
    expect(await namesIn(storage, "/")).toEqual(["file", "folder"]);
    for (const path of [`/${FOLDER}`, `/${FOLDER}/file`, `/folder/${FOLDER}`]) {
      expect(await storage.stat(path)).toBeUndefined();
      await expect(storage.read(path)).rejects.toMatchObject({ code: "not-found" });
      await expect(namesIn(storage, path)).rejects.toMatchObject({ code: "not-found" });
      await expect(storage.remove(path)).rejects.toMatchObject({ code: "not-found" });
      await expect(storage.move(path, "/new")).rejects.toMatchObject({ code: "not-found" });
      await expect(storage.copy("/file", path)).rejects.toMatchObject({ code: "bad-name" });
      await expect(put(storage, path, "x")).rejects.toMatchObject({ code: "bad-name" });
      await expect(storage.createFolder(path)).rejects.toMatchObject({ code: "bad-name" });
    }
    for (const path of ["/", "/folder", "/file"]) expect(await namesOf(storage, path)).toEqual(["name"]);
  });

  it("of 30 changes by two processes none is lost if the store has conditions", async () => {
    const first = createFake();
    const second = createFake(undefined, { fetch: first.fetch });
    await put(first.storage, "/file", "x");
    const names = Array.from({ length: 30 }, (_, index) => `n${index + 10}`);
    await Promise.all(names.map((one, index) => setProperty((index % 2 ? first : second).storage, "/file", one)));
    expect(await namesOf(first.storage, "/file")).toEqual(names);
  });

  it.each(["ignored", "refused"] as const)(
    "of 30 changes in one process none is lost if conditions are %s",
    async (conditions) => {
      const { storage } = createFake(undefined, {}, conditions);
      await put(storage, "/file", "x");
      const names = Array.from({ length: 30 }, (_, index) => `n${index + 10}`);
      await Promise.all(names.map((one) => setProperty(storage, "/file", one)));
      expect(await namesOf(storage, "/file")).toEqual(names);
    },
  );

  it("go with their member, also if it is removed while they are changed", async () => {
    const fake = createFake((call, _, serve) => {
      if (call.method !== "PUT" || call.key !== `${FOLDER}/file`) return undefined;
      fake.objects.delete("file");
      return serve();
    });
    await put(fake.storage, "/file", "x");
    await expect(setProperty(fake.storage, "/file")).rejects.toMatchObject({ code: "not-found" });
    expect([...fake.objects.keys()]).toEqual([]);
  });

  it.each(["remove", "move"] as const)("do not make a removal fail whose member is gone: %s", async (act) => {
    let isBroken = false;
    const fake = createFake(
      ({ method, key }) =>
        isBroken && method === "DELETE" && key.includes(FOLDER) ? refusal(503, "SlowDown") : undefined,
      { retries: 1 },
    );
    const { storage, objects } = fake;
    await put(storage, "/file", "x");
    await storage.createFolder("/folder");
    for (const path of ["/file", "/folder"]) await setProperty(storage, path);
    isBroken = true;
    for (const path of ["/file", "/folder"])
      await (act === "remove" ? storage.remove(path) : storage.move(path, `${path}-new`));
    for (const path of ["/file", "/folder"]) expect(await storage.stat(path)).toBeUndefined();
    expect([...objects.keys()].filter((key) => !key.includes(FOLDER))).toEqual(
      act === "remove" ? [] : ["file-new", "folder-new/"],
    );
  });

  it("keep a folder that exists only by a file with properties, when that is removed", async () => {
    const { storage, objects } = createFake();
    objects.set("foreign/file", { body: "x", headers: new Headers({ etag: '"t"' }) });
    await setProperty(storage, "/foreign/file");
    await storage.remove("/foreign/file");
    expect([...objects.keys()]).toEqual(["foreign/"]);
  });

  it("are kept by copies and moves to another storage that is mounted beside", async () => {
    const memory = createMemoryStorage();
    const { storage } = createFake();
    const tree = mountStorage({ "/": memory, "/bucket": storage });
    await put(storage, "/file", "x");
    await setProperty(storage, "/file");
    await tree.copy("/bucket/file", "/copied");
    await tree.move("/copied", "/bucket/back");
    expect(await namesOf(storage, "/back")).toEqual(["name"]);
    await tree.move("/bucket/file", "/moved");
    expect([...((await memory.attributes?.properties("/moved")) ?? [])]).toEqual([["name", "name"]]);
  });

  it("are unavailable if another program has changed their object to something else", async () => {
    const { storage, objects } = createFake();
    await put(storage, "/file", "x");
    for (const body of ["{", "[]", "null", '{"name":1}']) {
      objects.set(`${FOLDER}/file`, { body, headers: new Headers({ etag: '"t"' }) });
      await expect(storage.attributes?.properties("/file")).rejects.toMatchObject({ code: "unavailable" });
      await expect(setProperty(storage, "/file")).rejects.toMatchObject({ code: "unavailable" });
    }
  });

  it("may have names that are properties of every object", async () => {
    const { storage } = createFake();
    await put(storage, "/file", "x");
    for (const one of ["__proto__", "constructor", "toString"]) await setProperty(storage, "/file", one);
    expect(await namesOf(storage, "/file")).toEqual(["__proto__", "constructor", "toString"]);
  });

  it("are unsupported for a path whose key would be too long, and times for all paths", async () => {
    const { storage, calls } = createFake();
    let path = "";
    for (const length of [250, 250, 250, 200]) {
      path += `/${"n".repeat(length)}`;
      await storage.createFolder(path);
    }
    await put(storage, `${path}/${"f".repeat(60)}`, "x");
    await expect(setProperty(storage, `${path}/${"f".repeat(60)}`)).rejects.toMatchObject({ code: "unsupported" });
    const before = calls.length;
    const changed = storage.attributes?.change(path, { modified: new Date(0) });
    await expect(changed).rejects.toMatchObject({ code: "unsupported" });
    expect(calls.slice(before).filter(({ method }) => method === "PUT")).toEqual([]);
  });
});

async function markedIn(storage: S3Storage, part?: { after: string; limit: number }): Promise<readonly string[]> {
  const marked: string[] = [];
  for await (const entry of storage.list("/", part)) if (entry.hasProperties) marked.push(entry.name);
  return marked.sort(compareNames);
}
