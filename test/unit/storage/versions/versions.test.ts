import { setTimeout } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { type StorageAdapter, StorageError } from "../../../../src/contracts/storage-adapter.ts";
import { createMemoryStorage } from "../../../../src/storage/memory.ts";
import { createQuotaStorage } from "../../../../src/storage/quota.ts";
import { createTrashStorage } from "../../../../src/storage/trash.ts";
import { createVersionsStorage } from "../../../../src/storage/versions.ts";
import { bodyText, cutOff, put, readFileText, textChunks } from "../../../../src/testing/storage/content.ts";
import { fillStorage, overrideStorage, withLinks } from "../../../support/storage.ts";
import { codeOf, entriesOf, pathsIn } from "../trash/setup.ts";
import { openVersions, textsOf, versionsOf } from "./setup.ts";

/** Writes some texts to a path, one after the other. */
async function putAll(storage: StorageAdapter, path: string, ...texts: readonly string[]): Promise<void> {
  for (const text of texts) await put(storage, path, text);
}

describe("createVersionsStorage", () => {
  it("keeps what a write replaces, the newest first, in the hidden folder", async () => {
    const { inner, storage } = openVersions();
    await fillStorage(storage, { "/home/a.txt": "one" });
    await putAll(storage, "/home/a.txt", "two", "three");
    expect(await textsOf(storage, "/home/a.txt")).toEqual(["two", "one"]);
    const [newest] = await versionsOf(storage, "/home/a.txt");
    expect(newest).toMatchObject({ id: expect.stringMatching(/^20260101T\d{9}Z-[0-9a-f]{16}$/), size: 3 });
    expect(await storage.versions.find("/home/a.txt", newest?.id ?? "")).toEqual(newest);
    expect(await pathsIn(storage)).toEqual(["/home/a.txt"]);
    expect(await pathsIn(inner)).toContain(`/__svc__/versions/home/a.txt~v/${newest?.id}`);
  });

  it("has the properties of the former content, and reads parts of it", async () => {
    const { inner, storage } = openVersions();
    await putAll(storage, "/a", "first");
    await storage.attributes?.change("/a", { properties: new Map([["{x}y", "<y/>"]]) });
    await putAll(storage, "/a", "second");
    const [version] = await versionsOf(storage, "/a");
    const id = version?.id ?? "";
    expect(await inner.attributes?.properties(`/__svc__/versions/a~v/${id}`)).toEqual(new Map([["{x}y", "<y/>"]]));
    const part = await storage.versions.read("/a", id, { offset: 1, length: 3 });
    expect([part.entry.name, part.entry.size, await bodyText(part.body)]).toEqual([id, 5, "irs"]);
  });

  it("makes none of a first write, of an empty file, of equal content and of what is too large", async () => {
    const { inner, storage } = openVersions({ maxFileBytes: 10 });
    await putAll(storage, "/a", "", "same", "same");
    await put(storage, "/a", "same", { size: 4 });
    expect(await versionsOf(storage, "/a")).toEqual([]);
    await putAll(storage, "/a", "diff", "more than ten bytes", "end");
    expect(await textsOf(storage, "/a")).toEqual(["diff", "same"]);
    await fillStorage(storage, { "/b": "equal", "/c": "equal" });
    expect(await storage.copy("/b", "/c", { replace: true })).toBe("replaced");
    expect(await versionsOf(storage, "/c")).toEqual([]);
    expect((await pathsIn(inner)).filter((path) => path.includes("c~v"))).toEqual([]);
  });

  it("makes none of a write that fails or is refused, and leaves no trace of it", async () => {
    const { inner, storage } = openVersions();
    await put(storage, "/a", "one");
    const { etag } = (await storage.stat("/a")) ?? {};
    const before = await pathsIn(inner);
    expect(await codeOf(put(storage, "/a", "two", { ifMatch: ['"other"'] }))).toBe("precondition-failed");
    expect(await codeOf(put(storage, "/a", "two", { size: 4 }))).toBe("incomplete");
    await expect(storage.write("/a", cutOff(new Error("cut"), "t"))).rejects.toThrow("cut");
    expect(await pathsIn(inner)).toEqual(before);
    expect((await storage.stat("/a"))?.etag).toBe(etag);
  });

  it("fails if the former content cannot be kept, and the former file stays", async () => {
    const memory = createMemoryStorage();
    const { storage } = openVersions(
      {},
      overrideStorage(memory, { copy: () => memory.copy("/a", "/missing/folder/b", { kind: "folder" }) }),
    );
    await put(storage, "/a", "one");
    await memory.createFolder("/__svc__");
    await memory.createFolder("/__svc__/versions");
    expect(await codeOf(put(storage, "/a", "two"))).toBe("done");
    const refusing = openVersions({}, overrideStorage(memory, { copy: () => memory.copy("/", "/b") }));
    expect(await codeOf(put(refusing.storage, "/a", "three"))).toBe("unavailable");
    expect(await readFileText(storage, "/a")).toBe("two");
  });

  it("keeps what a copy, a move and a completed upload replace", async () => {
    const { storage } = openVersions();
    await fillStorage(storage, { "/a": "a", "/b": "b", "/c": "c", "/d": "d" });
    await storage.copy("/a", "/b", { replace: true });
    await storage.move("/a", "/c", { replace: true });
    const key = { owner: "", id: "0".repeat(32) };
    await storage.uploads?.create(key, "/d", { note: "", expires: new Date(0), size: 3 });
    await storage.uploads?.append(key, 0, textChunks("new"));
    await storage.uploads?.complete(key);
    expect([await textsOf(storage, "/b"), await textsOf(storage, "/c")]).toEqual([["b"], ["c"]]);
    expect([await textsOf(storage, "/d"), await readFileText(storage, "/d")]).toEqual([["d"], "new"]);
    // Of the same content there is no version.
    const again = { owner: "", id: "1".repeat(32) };
    await storage.uploads?.create(again, "/d", { note: "", expires: new Date(0), size: 3 });
    await storage.uploads?.append(again, 0, textChunks("new"));
    await storage.uploads?.complete(again);
    expect(await textsOf(storage, "/d")).toEqual(["d"]);
  });

  it("answers a completion with the file that another process has just made of the upload", async () => {
    const inner = createMemoryStorage();
    const first = openVersions({}, inner).storage;
    const uploads = inner.uploads as NonNullable<typeof inner.uploads>;
    const key = { owner: "", id: "0".repeat(32) };
    const find: typeof uploads.find = async (...call) => {
      const found = await uploads.find(...call);
      await first.uploads?.complete(key);
      return found;
    };
    const second = openVersions({}, overrideStorage(inner, { uploads: { ...uploads, find } })).storage;
    await put(first, "/a", "old");
    await uploads.create(key, "/a", { note: "", expires: new Date(0), size: 3 });
    await uploads.append(key, 0, textChunks("new"));
    let isRepeated = false;
    const onRepeat = (): void => {
      isRepeated = true;
    };
    expect(await second.uploads?.complete(key, { onRepeat })).toEqual(await inner.stat("/a"));
    expect(isRepeated).toBe(true);
    expect([await textsOf(first, "/a"), await readFileText(first, "/a")]).toEqual([["old"], "new"]);
  });

  it("keeps the newest as many as it may, for as long as it may", async () => {
    const { inner, storage, pass } = openVersions({ keep: 2, keepSeconds: 100 });
    await putAll(storage, "/a", "1", "2", "3", "4");
    expect(await textsOf(storage, "/a")).toEqual(["3", "2"]);
    expect((await pathsIn(inner)).filter((path) => path.includes("a~v")).length).toBe(2);
    pass(99);
    await putAll(storage, "/a", "5");
    pass(2);
    expect(await textsOf(storage, "/a")).toEqual(["4"]);
    expect(await storage.versions.sweep()).toBe(1);
    pass(100);
    expect(await versionsOf(storage, "/a")).toEqual([]);
    expect(await storage.versions.sweep()).toBe(1);
  });

  it("restores by a write, so that the present content becomes a version", async () => {
    const { storage } = openVersions();
    await putAll(storage, "/a", "one", "two");
    const [version] = await versionsOf(storage, "/a");
    const entry = await storage.versions.restore("/a", version?.id ?? "");
    expect(entry).toEqual(await storage.stat("/a"));
    expect([await readFileText(storage, "/a"), await textsOf(storage, "/a")]).toEqual(["one", ["two", "one"]]);
    const refused = storage.versions.restore("/a", version?.id ?? "", { ifMatch: ['"other"'] });
    expect(await codeOf(refused)).toBe("precondition-failed");
  });

  it("removes one version for good, once", async () => {
    const { storage } = openVersions();
    await putAll(storage, "/a", "one", "two");
    const [version] = await versionsOf(storage, "/a");
    const purge = () => storage.versions.purge("/a", version?.id ?? "");
    expect((await Promise.all([purge(), purge()])).sort()).toEqual([false, true]);
    expect(await versionsOf(storage, "/a")).toEqual([]);
  });

  it("counts no version that was removed for good: an older one stays", async () => {
    const { storage } = openVersions({ keep: 2 });
    await putAll(storage, "/a", "one", "two", "three");
    const [two, one] = await versionsOf(storage, "/a");
    expect(await storage.versions.purge("/a", two?.id ?? "")).toBe(true);
    await putAll(storage, "/a", "four");
    const [three, ...others] = await versionsOf(storage, "/a");
    expect([three?.size, others]).toEqual(["three".length, [one]]);
  });

  it("removes with a later write what a failure has left of the versions that are too many", async () => {
    const memory = createMemoryStorage();
    let isFailing = false;
    const { storage } = openVersions(
      { keep: 1 },
      overrideStorage(memory, {
        remove: async (path, options) => {
          if (isFailing) throw new StorageError("unavailable");
          await memory.remove(path, options);
        },
      }),
    );
    await putAll(storage, "/a", "one", "two");
    const [one] = await versionsOf(storage, "/a");
    isFailing = true;
    await putAll(storage, "/a", "three");
    expect(await storage.versions.find("/a", one?.id ?? "")).toBeDefined();
    isFailing = false;
    await putAll(storage, "/a", "four");
    expect(await storage.versions.find("/a", one?.id ?? "")).toBeUndefined();
    expect((await versionsOf(storage, "/a")).map(({ size }) => size)).toEqual(["three".length]);
  });

  it("finds nothing by what is no ID, in the hidden folder, and at other paths", async () => {
    const { storage } = openVersions();
    await putAll(storage, "/a", "one", "two");
    await put(storage, "/b", "other");
    const [version] = await versionsOf(storage, "/a");
    const id = version?.id ?? "";
    for (const [path, name] of [
      ["/a", "../a"],
      ["/a", "data"],
      ["/b", id],
      ["/__svc__/versions/a~v", id],
      ["/", id],
    ] as const) {
      expect(await codeOf(storage.versions.read(path, name))).toBe("not-found");
      expect(await codeOf(storage.versions.restore(path, name))).toBe("not-found");
      expect(await storage.versions.find(path, name)).toBeUndefined();
      expect(await storage.versions.purge(path, name)).toBe(false);
    }
    await expect(versionsOf(storage, "a")).rejects.toThrow(TypeError);
    expect(await storage.stat(`/__svc__/versions/a~v/${id}`)).toBeUndefined();
    expect(await codeOf(storage.move("/a", `/__svc__/trash/a~t/${id}/data`))).toBe("denied");
  });

  it("has no versions of links", async () => {
    const memory = createMemoryStorage();
    const { inner, storage } = openVersions({}, withLinks(memory, ["/link"]));
    await put(storage, "/link", "a file now");
    expect((await pathsIn(memory)).filter((path) => path.startsWith("/__svc__"))).toEqual([]);
    expect(inner).toBeDefined();
  });

  it("moves versions with a file and with a folder, also over others", async () => {
    const { inner, storage } = openVersions();
    await fillStorage(storage, {
      "/a": "1",
      "/b": "b",
      "/folder/sub/x": "1",
      "/folder~v/y": "1",
      "/folder": "",
    } as const).catch(() => undefined);
    await putAll(storage, "/a", "2");
    await storage.move("/a", "/c");
    expect(await textsOf(storage, "/c")).toEqual(["1"]);
    await storage.move("/c", "/b", { replace: true });
    expect([...(await textsOf(storage, "/b"))].sort()).toEqual(["1", "b"]);
    await putAll(storage, "/folder/sub/x", "2", "3");
    await storage.move("/folder", "/elsewhere");
    expect(await textsOf(storage, "/elsewhere/sub/x")).toEqual(["2", "1"]);
    expect((await pathsIn(inner)).filter((path) => /versions\/(?:a|c|folder).*Z-/.test(path))).toEqual([]);
    expect((await pathsIn(inner)).filter((path) => path.startsWith("/__svc__/versions-moves/2"))).toEqual([]);
  });

  it("keeps the versions of a file apart from those below a folder whose name has the mark", async () => {
    const { storage } = openVersions();
    await fillStorage(storage, { "/x": "1", "/x~v/y": "1" });
    await putAll(storage, "/x", "2");
    await putAll(storage, "/x~v/y", "2");
    await storage.move("/x", "/moved");
    expect([await textsOf(storage, "/moved"), await textsOf(storage, "/x~v/y")]).toEqual([["1"], ["1"]]);
    await storage.move("/moved", "/x");
    await storage.move("/x~v", "/folder");
    expect([await textsOf(storage, "/x"), await textsOf(storage, "/folder/y")]).toEqual([["1"], ["1"]]);
    await storage.move("/folder", "/x~v");
    await storage.remove("/x~v");
    expect([await textsOf(storage, "/x"), await textsOf(storage, "/x~v/y")]).toEqual([["1"], []]);
  });

  it("removes versions with a file and a folder, and those of a folder that is replaced", async () => {
    const { inner, storage } = openVersions();
    await fillStorage(storage, { "/a": "1", "/folder/b": "1", "/folder/c": "1", "/other/b": "new" });
    for (const path of ["/a", "/folder/b", "/folder/c"]) await put(storage, path, "2");
    await storage.remove("/a");
    await storage.remove("/folder/c");
    await storage.move("/other", "/folder", { replace: true });
    expect(await versionsOf(storage, "/folder/b")).toEqual([]);
    await storage.remove("/folder");
    await put(storage, "/a", "new");
    expect(await versionsOf(storage, "/a")).toEqual([]);
    expect((await pathsIn(inner)).filter((path) => path.includes("Z-"))).toEqual([]);
  });

  it("keeps the versions of a folder that replaces one without versions", async () => {
    const { storage } = openVersions();
    await fillStorage(storage, { "/folder/a": "1", "/other/b": "b" });
    await put(storage, "/folder/a", "2");
    expect(await storage.move("/folder", "/other", { replace: true })).toBe("replaced");
    expect(await textsOf(storage, "/other/a")).toEqual(["1"]);
    expect(await storage.stat("/other/b")).toBeUndefined();
  });

  it("reports versions of a replaced folder that stay, to all listeners although one throws", async () => {
    let isFailing = false;
    const memory = createMemoryStorage();
    const { storage } = openVersions(
      {},
      overrideStorage(memory, {
        remove: async (path, options) => {
          if (isFailing) throw new StorageError("unavailable");
          await memory.remove(path, options);
        },
      }),
    );
    await fillStorage(storage, { "/folder/b": "1", "/other/b": "new" });
    await put(storage, "/folder/b", "2");
    const paths: string[] = [];
    storage.versions.watch(() => {
      throw new Error("a listener fails");
    });
    storage.versions.watch(({ path }) => paths.push(path));
    isFailing = true;
    await storage.copy("/other", "/folder", { replace: true });
    expect([paths, await readFileText(storage, "/folder/b")]).toEqual([["/folder"], "new"]);
  });

  it("has versions of files with long names and paths", async () => {
    const { inner, storage } = openVersions();
    const long = `/${"ü".repeat(127)}`;
    const deep = `/${Array.from({ length: 40 }, (_, level) => `level ${level} ${"x".repeat(20)}`).join("/")}/file`;
    await fillStorage(storage, { [long]: "1", [deep]: "1" });
    for (const path of [long, deep]) {
      await put(storage, path, "2");
      expect(await textsOf(storage, path)).toEqual(["1"]);
    }
    const names = (await pathsIn(inner)).flatMap((path) => path.split("/"));
    for (const name of names) expect(new TextEncoder().encode(name).byteLength).toBeLessThanOrEqual(255);
    await storage.move(long, "/short");
    expect(await textsOf(storage, "/short")).toEqual(["1"]);
  });

  it("lets many writers of one file keep each content once", async () => {
    const { storage } = openVersions({ keep: 100 });
    await put(storage, "/a", "first");
    await Promise.all(Array.from({ length: 20 }, (_, index) => put(storage, "/a", `text ${index}`)));
    const texts = [...(await textsOf(storage, "/a")), await readFileText(storage, "/a")];
    expect([...texts].sort()).toEqual(["first", ...Array.from({ length: 20 }, (_, index) => `text ${index}`)].sort());
  });

  it.each(["waits for another write of the file", "keeps the former content"])(
    "has no lock and no version of a write that is aborted while it %s",
    async (when) => {
      const isWaiting = when.startsWith("waits");
      const memory = createMemoryStorage();
      let goOn = (): void => undefined;
      let opened = Promise.resolve();
      const inner = overrideStorage(memory, {
        write: async (...call) => {
          const entry = await memory.write(...call);
          if (isWaiting) await opened;
          return entry;
        },
        // Some storages do not stop a copy.
        copy: async (from, to, { replace = false } = {}) => {
          if (!isWaiting) await opened;
          return memory.copy(from, to, { replace });
        },
      });
      const { storage } = openVersions({}, inner);
      await put(storage, "/a", "1");
      opened = new Promise((resolve) => {
        goOn = resolve;
      });
      const other = isWaiting ? put(storage, "/a", "2") : undefined;
      await setTimeout(20);
      const aborting = new AbortController();
      const written = put(storage, "/a", "3", { signal: aborting.signal });
      await setTimeout(20);
      aborting.abort(new Error("The client has left."));
      await expect(written).rejects.toThrow("The client has left.");
      goOn();
      await other;
      await setTimeout(20);
      expect(await textsOf(storage, "/a")).toEqual(isWaiting ? ["1"] : []);
      await put(storage, "/a", "4");
      expect(await textsOf(storage, "/a")).toEqual(isWaiting ? ["2", "1"] : ["1"]);
    },
    5000,
  );

  it.each([
    ["keep", 0],
    ["keep", 10_001],
    ["keepSeconds", -1],
    ["maxFileBytes", 1.5],
    ["others", 1],
  ])("refuses the option %s %s", (name, value) => {
    expect(() => createVersionsStorage(createMemoryStorage(), { [name]: value })).toThrow(TypeError);
  });
});

describe("a trash around versions", () => {
  async function openBoth() {
    const inner = createMemoryStorage();
    const counted = createQuotaStorage(inner, { folders: [{ path: "/home", bytes: 1000 }] });
    const kept = createVersionsStorage(counted);
    const storage = createTrashStorage(kept);
    await fillStorage(storage, { "/home/a": "1", "/home/folder/b": "1" });
    for (const path of ["/home/a", "/home/folder/b"]) await put(storage, path, "22");
    return { inner, counted, kept, storage };
  }

  it("has the versions of what is removed in its entry, and restores them", async () => {
    const { inner, counted, kept, storage } = await openBoth();
    for (const path of ["/home/a", "/home/folder"]) await storage.remove(path);
    expect(await counted.quota.usage("/home")).toMatchObject({ bytes: 6, files: 4 });
    expect(await counted.quota.recount("/home")).toMatchObject({ bytes: 6, files: 4 });
    const inTrash = (await pathsIn(inner)).filter((path) => /\/versions\/.*Z-/.test(path));
    expect(inTrash.length).toBe(2);
    for (const path of inTrash) expect(path).toMatch(/^\/__svc__\/trash\/home\/(?:a|folder)~t\/[^/]+\/versions\//);
    await put(storage, "/home/a", "another");
    expect(await versionsOf(kept, "/home/a")).toEqual([]);
    for (const { id, path } of await entriesOf(storage)) {
      await storage.trash.restore(id, path === "/home/a" ? "/home/old" : undefined);
    }
    expect([await textsOf(kept, "/home/old"), await textsOf(kept, "/home/folder/b")]).toEqual([["1"], ["1"]]);
    expect(await entriesOf(storage)).toEqual([]);
    expect((await pathsIn(inner)).filter((path) => path.startsWith("/__svc__/trash/") && path.includes("Z-"))).toEqual(
      [],
    );
  });

  it("removes the versions for good with an entry, and with what is removed for good", async () => {
    const { inner, counted, storage } = await openBoth();
    await storage.remove("/home/a");
    for (const { id } of await entriesOf(storage)) expect(await storage.trash.purge(id)).toBe(true);
    await storage.remove("/home/folder", { permanent: true });
    expect((await pathsIn(inner)).filter((path) => path.includes("Z-"))).toEqual([]);
    expect(await counted.quota.usage("/home")).toMatchObject({ bytes: 0, files: 0 });
    expect(await counted.quota.recount("/home")).toMatchObject({ bytes: 0, files: 0 });
  });

  it("counts the versions of its entries where a limit is", async () => {
    const { counted, storage } = await openBoth();
    const large = "x".repeat(490);
    await put(storage, "/home/large", large);
    expect(await codeOf(put(storage, "/home/large", "y".repeat(400), { size: 400 }))).toBe("done");
    expect(await counted.quota.usage("/home")).toMatchObject({ bytes: 896, files: 6 });
    expect(await codeOf(put(storage, "/home/large", "z", { size: 1 }))).toBe("no-space");
    expect(await readFileText(storage, "/home/large")).toBe("y".repeat(400));
    await storage.remove("/home/large");
    const quota = { path: "/home", bytes: 1000 };
    expect(await codeOf(put(storage, "/home/new", "n".repeat(600), { size: 600, quota }))).toBe("done");
    expect(await entriesOf(storage)).toEqual([]);
    expect(await counted.quota.recount("/home")).toMatchObject({ bytes: 606, files: 5 });
  });

  it("counts a version for the caller's own limit", async () => {
    const counted = createQuotaStorage(createMemoryStorage());
    const { storage } = openVersions({}, counted);
    await fillStorage(storage, { "/home/a": "12345" });
    const quota = { path: "/home", bytes: 10 };
    expect(await codeOf(put(storage, "/home/a", "12", { size: 2, quota }))).toBe("done");
    expect(await codeOf(put(storage, "/home/a", "123456789", { size: 9, quota }))).toBe("no-space");
    expect(await textsOf(storage, "/home/a")).toEqual(["12345"]);
  });
});
