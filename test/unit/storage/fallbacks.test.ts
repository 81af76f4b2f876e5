import { describe, expect, it } from "vitest";
import { type StorageAdapter, StorageError } from "../../../src/contracts/storage-adapter.ts";
import type { StorageAttributes } from "../../../src/contracts/storage-attributes.ts";
import { copyByReading, moveByCopying } from "../../../src/storage/fallbacks.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { put, readFileText } from "../../../src/testing/storage/content.ts";
import { fillStorage, overrideStorage, withLinks } from "../../support/storage.ts";

it.each([
  ["copy", copyByReading],
  ["move", moveByCopying],
] as const)("a %s whose properties find no room leaves no copy, and the source as it was", async (_, copyOrMove) => {
  const memory = createMemoryStorage();
  await fillStorage(memory, { "/a": "a" });
  const { properties, change } = memory.attributes as StorageAttributes;
  await change("/a", { properties: new Map([["{urn:x}p", "<p/>"]]) });
  const full = overrideStorage(memory, {
    attributes: {
      properties,
      async change() {
        throw new StorageError("no-space");
      },
    },
  });
  await expect(copyOrMove(full, "/a", "/b")).rejects.toMatchObject({ code: "no-space" });
  await expect(copyOrMove(full, "/a", "/b", { replace: true })).rejects.toMatchObject({ code: "no-space" });
  expect([await memory.stat("/b"), (await properties("/a")).size]).toEqual([undefined, 1]);
});

const TREE = { "1": "a", "2": "b", "deep/3": "c", "deep/empty/": "" };
const TRANSFERS = { copy: copyByReading, move: moveByCopying };

/** What a folder has below it: the text of each file, and folders with a `/` at the end if they are empty. */
async function treeAt(storage: StorageAdapter, folder: string): Promise<Readonly<Record<string, string>> | undefined> {
  if ((await storage.stat(folder)) === undefined) return undefined;
  const tree: Record<string, string> = {};
  for await (const { name, kind } of storage.list(folder)) {
    if (kind === "file") tree[name] = await readFileText(storage, `${folder}/${name}`);
    if (kind !== "folder") continue;
    const below = Object.entries((await treeAt(storage, `${folder}/${name}`)) ?? {});
    if (below.length === 0) tree[`${name}/`] = "";
    for (const [path, text] of below) tree[`${name}/${path}`] = text;
  }
  return tree;
}

/** A memory with the folder `/from`. `onCall`: called before a file is read, and before something is removed. */
async function createFilled(onCall: (call: string, memory: StorageAdapter) => Promise<void> = async () => undefined) {
  const memory = createMemoryStorage();
  await fillStorage(memory, Object.fromEntries(Object.entries(TREE).map(([path, text]) => [`/from/${path}`, text])));
  await memory.attributes?.change("/from/1", { properties: new Map([["{urn:x}p", "<p/>"]]) });
  const storage = overrideStorage(memory, {
    async read(path, range) {
      await onCall(`read ${path}`, memory);
      return memory.read(path, range);
    },
    async remove(path, options) {
      await onCall(`remove ${path}`, memory);
      await memory.remove(path, options);
    },
  });
  return { memory, storage };
}

describe.each(["copy", "move"] as const)("a %s that replaces a folder", (verb) => {
  it.each(["/from", "/from/deep"])("leaves it as it is if %s cannot be listed", async (failing) => {
    const { memory } = await createFilled();
    await fillStorage(memory, { "/to/old": "old" });
    const storage = overrideStorage(memory, {
      async *list(path) {
        if (path === failing) throw new StorageError("unavailable");
        yield* memory.list(path);
      },
    });
    const replacing = TRANSFERS[verb](storage, "/from", "/to", { replace: true });
    await expect(replacing).rejects.toMatchObject({ code: "unavailable" });
    expect([await treeAt(memory, "/from"), await treeAt(memory, "/to")]).toEqual([TREE, { old: "old" }]);
  });

  it("leaves it as it is if the file that replaces it cannot be read", async () => {
    const { memory, storage } = await createFilled(async (call) => {
      if (call === "read /from/1") throw new StorageError("unavailable");
    });
    await fillStorage(memory, { "/to/old": "old" });
    const replacing = TRANSFERS[verb](storage, "/from/1", "/to", { replace: true });
    await expect(replacing).rejects.toMatchObject({ code: "unavailable" });
    expect(await treeAt(memory, "/to")).toEqual({ old: "old" });
  });

  it("leaves it as it is if the signal aborts while the source is listed", async () => {
    const controller = new AbortController();
    const { memory } = await createFilled();
    await fillStorage(memory, { "/to/old": "old" });
    const storage = overrideStorage(memory, {
      list(path) {
        controller.abort(new Error("gone"));
        return memory.list(path);
      },
    });
    const replacing = TRANSFERS[verb](storage, "/from", "/to", { replace: true, signal: controller.signal });
    await expect(replacing).rejects.toThrow("gone");
    expect(await treeAt(memory, "/to")).toEqual({ old: "old" });
  });
});

describe("moveByCopying of a folder", () => {
  const changes: Readonly<Record<string, (memory: StorageAdapter) => Promise<unknown>>> = {
    "a new file": (memory) => put(memory, "/from/new", "new"),
    "a new file in a folder that was copied": (memory) => put(memory, "/from/deep/new", "new"),
    "a new folder": (memory) => memory.createFolder("/from/new"),
    "other content of a file that was copied": (memory) => put(memory, "/from/1", "z"),
  };

  it.each(Object.keys(changes))("that gets %s meanwhile is unavailable, and changes nothing", async (change) => {
    let isChanged = false;
    const { memory, storage } = await createFilled(async (call) => {
      if (call !== "read /from/deep/3") return;
      await changes[change]?.(memory);
      isChanged = true;
    });
    await expect(moveByCopying(storage, "/from", "/to")).rejects.toMatchObject({ code: "unavailable" });
    const expected = await createFilled();
    await changes[change]?.(expected.memory);
    expect(isChanged).toBe(true);
    expect(await treeAt(memory, "/from")).toEqual(await treeAt(expected.memory, "/from"));
    expect(await memory.stat("/to")).toBeUndefined();
  });

  it("removes no file that is changed or created while it removes the others, and is unavailable", async () => {
    const { memory, storage } = await createFilled(async (call) => {
      if (call === "remove /from/1") await put(memory, "/from/2", "changed");
      if (call === "remove /from/deep/3") await put(memory, "/from/deep/later", "created");
    });
    await expect(moveByCopying(storage, "/from", "/to")).rejects.toMatchObject({ code: "unavailable" });
    expect(await treeAt(memory, "/from")).toEqual({ "2": "changed", "deep/later": "created" });
    expect(await treeAt(memory, "/to")).toEqual(TREE);
  });

  it("without entity-tags tells versions by size and time", async () => {
    const without = (memory: StorageAdapter): StorageAdapter =>
      overrideStorage(memory, {
        async *list(path) {
          for await (const { etag: _, ...entry } of memory.list(path)) yield entry;
        },
        async read(path, range) {
          const { entry, body } = await memory.read(path, range);
          const { etag: _, ...others } = entry;
          if (path === "/from/deep/3" && isChanging) await put(memory, "/from/1", "longer");
          return { entry: others, body };
        },
        async write(path, content, options) {
          const { etag: _, ...entry } = await memory.write(path, content, options);
          return entry;
        },
      });
    let isChanging = true;
    const { memory } = await createFilled();
    await expect(moveByCopying(without(memory), "/from", "/to")).rejects.toMatchObject({ code: "unavailable" });
    isChanging = false;
    expect(await moveByCopying(without(memory), "/from", "/to")).toBe("created");
    expect([await treeAt(memory, "/from"), await treeAt(memory, "/to")]).toEqual([
      undefined,
      { ...TREE, "1": "longer" },
    ]);
  });

  it("removes links with their folder, and nothing that they lead to", async () => {
    const { memory } = await createFilled();
    await fillStorage(memory, { "/other/file": "kept" });
    const isFollowed = true;
    const links = withLinks(memory, ["/from/deep/link"]);
    const storage = overrideStorage(links, {
      async *list(path) {
        yield* links.list(path === "/from/followed" ? "/other" : path);
        if (path === "/from") yield { name: "followed", kind: "folder", size: 0, modified: new Date(0), isFollowed };
      },
      read: (path, range) => memory.read(path.replace("/from/followed/", "/other/"), range),
      async remove(path, options) {
        expect(path).not.toContain("followed");
        await links.remove(path, options);
      },
    });
    await moveByCopying(storage, "/from", "/to");
    expect([await treeAt(memory, "/from"), await treeAt(memory, "/other")]).toEqual([undefined, { file: "kept" }]);
    expect(await treeAt(memory, "/to")).toEqual({ ...TREE, "followed/file": "kept" });
  });

  it("that another caller has removed takes back what it has made, and is not-found", async () => {
    const { memory, storage } = await createFilled(async (call) => {
      if (call !== "read /from/deep/3") return;
      await memory.remove("/from");
      await put(memory, "/to/mine", "mine");
    });
    await expect(moveByCopying(storage, "/from", "/to")).rejects.toMatchObject({ code: "not-found" });
    expect(await treeAt(memory, "/to")).toEqual({ mine: "mine" });
  });

  it("keeps its copy if it has removed a file of the source, whoever removes the rest", async () => {
    let removed = 0;
    const { memory, storage } = await createFilled(async (call) => {
      if (call.startsWith("remove /from/")) removed += 1;
      if (removed === 2) await memory.remove("/from");
    });
    await expect(moveByCopying(storage, "/from", "/to")).rejects.toMatchObject({ code: "unavailable" });
    expect([await treeAt(memory, "/from"), await treeAt(memory, "/to")]).toEqual([undefined, TREE]);
  });

  it("succeeds for one of several movers, and the others leave nothing", async () => {
    const { memory, storage } = await createFilled();
    const movers = Array.from({ length: 10 }, (_, number) => moveByCopying(storage, "/from", `/to-${number}`));
    const outcomes = await Promise.allSettled(movers);
    const places = await Promise.all(movers.map((_, number) => treeAt(memory, `/to-${number}`)));
    expect(places.filter((tree) => tree !== undefined)).toEqual([TREE]);
    for (const [number, { status }] of outcomes.entries()) {
      expect(status).toBe(places[number] ? "fulfilled" : "rejected");
    }
  });
});

describe("a copied folder that is taken back", () => {
  it.each(["copy", "move"] as const)("by a %s loses nothing that others have put there meanwhile", async (verb) => {
    const controller = new AbortController();
    const { memory, storage } = await createFilled(async (call) => {
      if (call !== "read /from/deep/3") return;
      await put(memory, "/to/mine", "mine");
      await put(memory, "/to/2", "mine, too");
      await memory.createFolder("/to/deep/new");
      controller.abort(new Error("gone"));
    });
    const { signal } = controller;
    await expect(TRANSFERS[verb](storage, "/from", "/to", { signal })).rejects.toThrow("gone");
    expect(await treeAt(memory, "/to")).toEqual({ "2": "mine, too", "deep/new/": "", mine: "mine" });
    expect(await treeAt(memory, "/from")).toEqual(TREE);
  });

  it.each(["copy", "move"] as const)("by a %s leaves nothing otherwise", async (verb) => {
    const { memory, storage } = await createFilled(async (call) => {
      if (call === "read /from/deep/3") throw new StorageError("no-space");
    });
    await expect(TRANSFERS[verb](storage, "/from", "/to")).rejects.toMatchObject({ code: "no-space" });
    expect([await treeAt(memory, "/from"), await treeAt(memory, "/to")]).toEqual([TREE, undefined]);
  });
});
