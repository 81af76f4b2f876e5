import { describe, expect, it } from "vitest";
import type { QuotaLimit } from "../../../../src/contracts/quota.ts";
import { type StorageAdapter, StorageError, type TransferOptions } from "../../../../src/contracts/storage-adapter.ts";
import { createMemoryStorage } from "../../../../src/storage/memory.ts";
import { mountStorage } from "../../../../src/storage/mount.ts";
import { createQuotaStorage } from "../../../../src/storage/quota.ts";
import { createTrashStorage } from "../../../../src/storage/trash.ts";
import { put, readFileText } from "../../../../src/testing/storage/content.ts";
import { fillStorage, overrideStorage } from "../../../support/storage.ts";
import { codeOf, entriesOf, openTrash, pathsIn } from "./setup.ts";

const DAY = 86_400;

describe("a sweep of the trash", () => {
  it("ends what is too old, which is neither listed nor restored before that", async () => {
    const { inner, storage, pass } = openTrash({ keepSeconds: 10 * DAY });
    await fillStorage(storage, { "/a": "a", "/folder/b": "b", "/new": "n" });
    const purges: string[] = [];
    const unwatch = storage.trash.watch(({ entry, reason }) => purges.push(`${reason} ${entry.path}`));
    for (const path of ["/a", "/folder"]) await storage.remove(path);
    const ids = (await entriesOf(storage)).map(({ id }) => id);
    pass(5 * DAY);
    await storage.remove("/new");
    pass(5 * DAY + 1);
    expect((await entriesOf(storage)).map(({ path }) => path)).toEqual(["/new"]);
    for (const id of ids) expect(await codeOf(storage.trash.restore(id))).toBe("not-found");
    expect(await storage.trash.find("/", ids)).toEqual([]);
    expect(
      await Promise.all([1, 2, 3].map(() => storage.trash.sweep())).then((counts) => counts.reduce((a, b) => a + b)),
    ).toBe(2);
    expect(purges.sort()).toEqual(["age /a", "age /folder"]);
    unwatch();
    expect((await pathsIn(inner)).filter((path) => path.endsWith("data"))).toHaveLength(1);
    pass(5 * DAY);
    expect(await storage.trash.sweep()).toBe(1);
    expect(purges).toHaveLength(2);
  });

  it("goes on after entries that fail, and then reports a failure", async () => {
    const inner = createMemoryStorage();
    const failing = overrideStorage(inner, {
      async remove(path, options) {
        if (/\/0\d~t\//.test(path)) throw new Error("This entry cannot be removed.");
        await inner.remove(path, options);
      },
    });
    const { storage, pass } = openTrash({ keepSeconds: DAY }, failing);
    const names = Array.from({ length: 30 }, (_, index) => `/${String(index).padStart(2, "0")}`);
    for (const name of names) await put(storage, name, "text");
    for (const name of names) await storage.remove(name);
    pass(DAY + 1);
    await expect(storage.trash.sweep()).rejects.toThrow("cannot be removed");
    const kept = (await pathsIn(inner)).filter((path) => path.endsWith("/data"));
    expect(kept.map((path) => path.match(/(\d\d)~t/)?.[1])).toEqual(names.slice(0, 10).map((name) => name.slice(1)));
  });

  it("keeps any age with 0", async () => {
    const { storage, pass } = openTrash({ keepSeconds: 0 });
    await put(storage, "/a", "a");
    await storage.remove("/a");
    pass(10_000 * DAY);
    expect(await storage.trash.sweep()).toBe(0);
    expect(await entriesOf(storage)).toHaveLength(1);
  });

  it("removes folders that nothing uses, in time", async () => {
    const { inner, storage, pass } = openTrash({ keepSeconds: DAY });
    await fillStorage(storage, { "/a/b/c/d": "d" });
    await storage.remove("/a/b/c/d");
    pass(2 * DAY);
    for (let sweeps = 0; sweeps < 8; sweeps += 1) {
      await storage.trash.sweep();
      pass(3601);
    }
    expect(await pathsIn(inner)).toEqual(["/__svc__/trash-unused/", "/__svc__/trash/", "/a/b/c/"].sort());
  });

  it("moves back what has come into a folder that it has just taken away", async () => {
    const memory = createMemoryStorage();
    const { storage, pass } = openTrash();
    expect(storage).toBeDefined();
    // Another process makes its entry while the folder is being moved.
    let late: ((to: string) => Promise<void>) | undefined;
    const inner = overrideStorage(memory, {
      async move(from, to, options) {
        const placement = await memory.move(from, to, options);
        if (to.startsWith("/__svc__/trash-unused/") && late !== undefined) await late(to);
        return placement;
      },
    });
    let now = Date.UTC(2026, 0, 1);
    const swept = createTrashStorage(inner, { clock: () => now });
    await put(swept, "/a", "first");
    await swept.remove("/a");
    const [entry] = await entriesOf(swept);
    await swept.trash.restore(entry?.id ?? "");
    late = async (to) => {
      if (!to.endsWith("~t")) return;
      late = undefined;
      const folder = `${to}/20260101T000001000Z-0123456789abcdef`;
      await memory.createFolder(folder);
      await put(memory, `${folder}/info.json`, '{"path":"/a","kind":"file","size":4}');
      await put(memory, `${folder}/data`, "late");
    };
    await swept.trash.sweep();
    expect(late).toBeUndefined();
    expect(await entriesOf(swept)).toEqual([]);
    now += 3_601_000;
    pass(0);
    await swept.trash.sweep();
    const [rescued] = await entriesOf(swept);
    expect(rescued).toMatchObject({ path: "/a" });
    await swept.trash.restore(rescued?.id ?? "", "/b");
    expect(await readFileText(swept, "/b")).toBe("late");
  });

  it("removes what a crash has left after an hour, and keeps what lost its information", async () => {
    const { inner, storage, pass } = openTrash();
    const id = (number: number) => `20260101T00000000${number}Z-0123456789abcdef`;
    const place = (number: number) => `/__svc__/trash/${number}~t/${id(number)}`;
    await fillStorage(inner, {
      [`${place(1)}/info.json`]: '{"path":"/1"}',
      [`${place(2)}/`]: "",
      [`${place(3)}/data`]: "without information",
      [`${place(4)}/info.json`]: '{"path":"/4"}',
      [`${place(4)}/purged/member`]: "x",
      [`${place(5)}/info.json`]: "broken",
      [`${place(5)}/data`]: "with broken information",
    });
    expect((await entriesOf(storage)).map(({ path }) => path)).toEqual(["/5", "/3"]);
    await storage.trash.sweep();
    expect(await pathsIn(inner)).toHaveLength(7);
    pass(3601);
    await storage.trash.sweep();
    const left = (await pathsIn(inner)).filter((path) => !path.endsWith("/"));
    expect(left).toEqual([`${place(3)}/data`, `${place(5)}/data`, `${place(5)}/info.json`]);
    expect(await storage.trash.restore(id(3))).toBe("/3");
  });
});

async function* bytes(count: number): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(count);
}

function fill(storage: StorageAdapter, path: string, size: number, home?: string): Promise<unknown> {
  return storage.write(path, bytes(size), { size, ...(home !== undefined && { quota: { path: home } }) });
}

describe("a trash with a size", () => {
  it("has the oldest entries go, also folders, until a tenth is free", async () => {
    const { storage, pass } = openTrash({ maxBytes: 1000 });
    const purges: string[] = [];
    storage.trash.watch(({ entry, reason }) => purges.push(`${reason} ${entry.path}`));
    await storage.createFolder("/0");
    for (const path of ["/0/a", "/0/b"]) await fill(storage, path, 100);
    for (const path of ["/1", "/2", "/3", "/4"]) await fill(storage, path, 200);
    for (const path of ["/0", "/1", "/2", "/3", "/4"]) {
      await storage.remove(path);
      pass(1);
    }
    expect(await entriesOf(storage)).toHaveLength(5);
    await fill(storage, "/5", 150);
    await storage.remove("/5");
    expect(purges).toEqual(["space /0", "space /1"]);
    expect(await storage.trash.sweep()).toBe(0);
    pass(1);
    const before = await entriesOf(storage);
    // What is larger than the trash goes alone.
    await fill(storage, "/6", 5000);
    await storage.remove("/6");
    expect(purges.at(-1)).toBe("space /6");
    expect(await entriesOf(storage)).toEqual(before);
  });

  it("gives an ID of what stays alone", async () => {
    const { storage, pass } = openTrash({ maxBytes: 1000 });
    const ids: string[] = [];
    for (const [path, size] of Object.entries({ "/1": 200, "/2": 950, "/3": 1001 })) {
      await fill(storage, path, size);
      await storage.remove(path, { onTrashed: (id) => ids.push(id) });
      pass(1);
    }
    expect((await entriesOf(storage)).map(({ id, path }) => [id, path])).toEqual([[ids[1], "/2"]]);
    expect(ids).toHaveLength(2);
  });

  it("is cut no further by a sweep that is aborted", async () => {
    const { inner, storage: large } = openTrash();
    for (const path of ["/1", "/2", "/3"]) await fill(large, path, 200);
    for (const path of ["/1", "/2", "/3"]) await large.remove(path);
    const { storage } = openTrash({ maxBytes: 100 }, inner);
    const stopping = new AbortController();
    storage.trash.watch(() => stopping.abort());
    await expect(storage.trash.sweep({ signal: stopping.signal })).rejects.toThrow("aborted");
    expect(await entriesOf(storage)).toHaveLength(2);
    expect(await storage.trash.sweep()).toBe(2);
  });
});

describe("a trash around a storage with quotas", () => {
  const folders = [{ path: "/", bytes: 1000, files: 10 }];

  function openBoth(makeRoom = true) {
    let now = Date.UTC(2026, 0, 1);
    const counted = createQuotaStorage(createMemoryStorage(), { folders });
    const storage = createTrashStorage(counted, { makeRoom, clock: () => (now += 1000) });
    return { storage, quota: counted.quota };
  }

  it("counts as before, to the byte and the file, also after a recount", async () => {
    const { storage, quota } = openBoth();
    await storage.createFolder("/folder");
    for (const path of ["/a", "/folder/b"]) await fill(storage, path, 400);
    const before = await quota.usage("/");
    for (const path of ["/a", "/folder"]) await storage.remove(path);
    expect(await quota.usage("/")).toEqual(before);
    expect(await quota.recount("/")).toEqual(before);
    expect(await quota.recount("/folder")).toMatchObject({ bytes: 0 });
    for (const { id } of await entriesOf(storage)) await storage.trash.restore(id);
    expect(await quota.usage("/")).toEqual(before);
    await storage.remove("/a");
    for (const { id } of await entriesOf(storage)) await storage.trash.purge(id);
    expect(await quota.usage("/")).toMatchObject({ bytes: 400, files: 1 });
    expect(await quota.recount("/")).toMatchObject({ bytes: 400, files: 1 });
  });

  it("takes what is removed although the quota is used up", async () => {
    const { storage, quota } = openBoth();
    for (let number = 0; number < 10; number += 1) await fill(storage, `/${number}`, 100);
    await storage.remove("/0");
    expect(await quota.usage("/")).toMatchObject({ bytes: 1000, files: 10 });
    const [entry] = await entriesOf(storage);
    expect(await storage.trash.restore(entry?.id ?? "")).toBe("/0");
  });

  it("makes room for a file of the same home, and as little as it needs", async () => {
    const { storage } = openBoth();
    for (const home of ["/alice", "/bob"]) {
      await storage.createFolder(home);
      for (const name of ["1", "2"]) await fill(storage, `${home}/${name}`, 200);
      for (const name of ["1", "2"]) await storage.remove(`${home}/${name}`);
    }
    expect(await codeOf(fill(storage, "/alice/new", 700, "/alice"))).toBe("no-space");
    expect(await entriesOf(storage)).toHaveLength(4);
    expect(await codeOf(fill(storage, "/alice/new", 201))).toBe("no-space");
    expect(await codeOf(fill(storage, "/alice/new", 201, "/bob"))).toBe("no-space");
    expect(await codeOf(fill(storage, "/alice/new", 201, "/alice"))).toBe("done");
    expect((await entriesOf(storage)).map(({ path }) => path)).toEqual(["/bob/2", "/bob/1", "/alice/2"]);
    expect(await codeOf(storage.copy("/alice/new", "/alice/copy", { quota: { path: "/alice" } }))).toBe("done");
    expect((await entriesOf(storage)).map(({ path }) => path)).toEqual(["/bob/2", "/bob/1"]);
    expect(await codeOf(storage.copy("/alice/new", "/alice/copy 2", { quota: { path: "/alice" } }))).toBe("no-space");
    expect(await entriesOf(storage)).toHaveLength(2);
  });

  it("makes no room for a copy that is refused anyway", async () => {
    const { storage } = openBoth();
    for (const [path, size] of [
      ["/old", 500],
      ["/file", 300],
      ["/other", 100],
    ] as const) {
      await fill(storage, path, size);
    }
    await storage.remove("/old");
    const copy = (from: string, to: string, options: TransferOptions = {}) =>
      codeOf(storage.copy(from, to, { quota: { path: "/" }, ...options }));
    expect(await copy("/file", "/missing/copy")).toBe("parent-missing");
    expect(await copy("/file", "/other/copy")).toBe("not-a-folder");
    expect(await copy("/file", "/other")).toBe("already-exists");
    expect(await copy("/file", "/copy", { ifMatch: ['"other"'] })).toBe("precondition-failed");
    expect(await copy("/file", "/copy", { kind: "folder" })).toBe("not-found");
    expect(await copy("/file", "/file/copy")).toBe("denied");
    expect((await entriesOf(storage)).map(({ path }) => path)).toEqual(["/old"]);
    expect(await copy("/file", "/copy")).toBe("done");
    expect(await entriesOf(storage)).toEqual([]);
  });

  it("lets a copy replace a folder for good if the trash has no room for it", async () => {
    const { storage } = openBoth();
    for (const folder of ["/old", "/new"]) await storage.createFolder(folder);
    await fill(storage, "/old/a", 250);
    await fill(storage, "/new/b", 200);
    await fill(storage, "/big", 500);
    const copy = (from: string, quota?: QuotaLimit) =>
      codeOf(storage.copy(from, "/old", { replace: true, ...(quota && { quota }) }));
    expect(await copy("/new")).toBe("no-space");
    expect(await copy("/big", { path: "/" })).toBe("no-space");
    expect(await pathsIn(storage)).toEqual(["/big", "/new/b", "/old/a"]);
    expect(await copy("/new", { path: "/" })).toBe("done");
    expect(await pathsIn(storage)).toEqual(["/big", "/new/b", "/old/b"]);
    expect(await entriesOf(storage)).toEqual([]);
  });

  it("makes room for uploads in several requests, and for no content that has begun", async () => {
    const { storage } = openBoth();
    await fill(storage, "/a", 900);
    await storage.remove("/a");
    const quota = { path: "/" };
    expect(await codeOf(storage.write("/b", bytes(500), { quota }))).toBe("no-space");
    expect(await entriesOf(storage)).toHaveLength(1);
    const draft = { size: 500, note: "", expires: new Date(Date.now() + 60_000), quota };
    await storage.uploads?.create({ owner: "account:alice", id: "0".repeat(32) }, "/b", draft);
    expect(await entriesOf(storage)).toEqual([]);
  });

  it("makes room for the length of an upload that is given later", async () => {
    const { storage } = openBoth();
    await fill(storage, "/a", 900);
    await storage.remove("/a");
    const quota = { path: "/" };
    const key = { owner: "account:alice", id: "0".repeat(32) };
    const draft = { note: "", expires: new Date(Date.now() + 60_000), quota };
    await storage.uploads?.create(key, "/b", draft);
    await storage.uploads?.update(key, { note: "changed" });
    expect(await codeOf(Promise.resolve(storage.uploads?.update(key, { size: 5000, quota })))).toBe("no-space");
    expect(await entriesOf(storage)).toHaveLength(1);
    expect(await storage.uploads?.update(key, { size: 500, quota })).toMatchObject({ size: 500, note: "changed" });
    expect(await entriesOf(storage)).toEqual([]);
  });

  it("makes none without makeRoom", async () => {
    const { storage } = openBoth(false);
    await fill(storage, "/a", 900);
    await storage.remove("/a");
    expect(await codeOf(fill(storage, "/b", 500, "/"))).toBe("no-space");
    expect(await entriesOf(storage)).toHaveLength(1);
  });
});

describe("a trash on a disk that is full", () => {
  const CAPACITY = 11_000;

  /**
   * A storage that has no room for files and copies beyond its capacity, and says so before it takes content. With
   * `onAsked` it also says how much is free.
   */
  function createDisk(onAsked?: () => void): StorageAdapter {
    const memory = createMemoryStorage();
    async function sizeOf(path: string): Promise<number> {
      const entry = await memory.stat(path);
      if (entry?.kind !== "folder") return entry?.size ?? 0;
      const files = (await pathsIn(memory, path)).filter((one) => !one.endsWith("/"));
      const sizes = await Promise.all(files.map(sizeOf));
      return sizes.reduce((sum, one) => sum + one, 0);
    }
    async function requireRoom(size: number): Promise<void> {
      if ((await sizeOf("/")) + size > CAPACITY) throw new StorageError("no-space");
    }
    return overrideStorage(memory, {
      async write(path, content, options) {
        if (!path.endsWith("info.json")) await requireRoom(options?.size ?? 0);
        return memory.write(path, content, options);
      },
      async copy(from, to, options) {
        await requireRoom(await sizeOf(from));
        return memory.copy(from, to, options);
      },
      ...(onAsked && {
        async locateContent(path) {
          const freeBytes = async (): Promise<number> => {
            onAsked();
            return CAPACITY - (await sizeOf("/"));
          };
          return { storage: memory, path, medium: "disk", freeBytes };
        },
      }),
    });
  }

  it("makes room for files and copies of the same home, by its oldest entries", async () => {
    const { storage, pass } = openTrash({}, createDisk());
    async function discard(path: string, size = 3000): Promise<void> {
      await fill(storage, path, size);
      await storage.remove(path);
      pass(1);
    }
    const removed = async (): Promise<readonly string[]> => (await entriesOf(storage)).map(({ path }) => path);
    for (const home of ["/alice", "/bob"]) await storage.createFolder(home);
    for (const path of ["/alice/1", "/bob/1", "/alice/2"]) await discard(path);

    for (const home of [undefined, "/bob"]) {
      expect(await codeOf(fill(storage, "/alice/new", 3500, home))).toBe("no-space");
    }
    expect(await codeOf(fill(storage, "/alice/new", 6001, "/alice"))).toBe("no-space");
    expect(await removed()).toEqual(["/alice/2", "/bob/1", "/alice/1"]);
    expect(await codeOf(fill(storage, "/alice/new", 3500, "/alice"))).toBe("done");
    expect(await removed()).toEqual(["/bob/1"]);

    // A copy needs as much as its original has, like a file that is sent.
    await discard("/alice/3", 600);
    await discard("/alice/4", 2800);
    const copy = (quota: { path: string }) => codeOf(storage.copy("/alice/new", "/alice/copy", { quota }));
    for (const path of ["/bob", "/alice"]) expect(await copy({ path })).toBe("no-space");
    expect(await removed()).toEqual(["/alice/4", "/alice/3", "/bob/1"]);
    await discard("/alice/5", 200);
    expect(await copy({ path: "/bob" })).toBe("no-space");
    expect(await copy({ path: "/alice" })).toBe("done");
    expect(await removed()).toEqual(["/bob/1"]);
  });

  it("keeps the folder that a copy would replace, as no quota says what the disk lacks", async () => {
    const full = overrideStorage(createMemoryStorage(), {
      async write() {
        throw new StorageError("no-space");
      },
    });
    const memory = createMemoryStorage();
    const { storage } = openTrash({}, mountStorage({ "/": memory, "/full": full }));
    await fillStorage(memory, { "/folder/a": "a" });
    await storage.createFolder("/full/folder");
    const copied = storage.copy("/folder", "/full/folder", { replace: true, quota: { path: "/" } });
    expect(await codeOf(copied)).toBe("no-space");
    expect(await pathsIn(storage)).toEqual(["/folder/a", "/full/folder/"]);
  });

  it("makes room for a copy of a folder by as much as is in it", async () => {
    const { storage, pass } = openTrash({}, createDisk());
    await fillStorage(storage, { "/alice/folder/sub/": "" });
    for (const path of ["/alice/folder/a", "/alice/folder/sub/b"]) await fill(storage, path, 1500);
    for (const [path, size] of [
      ["/alice/1", 100],
      ["/alice/2", 3000],
      ["/alice/3", 4500],
    ] as const) {
      await fill(storage, path, size);
      await storage.remove(path);
      pass(1);
    }
    const copied = codeOf(storage.copy("/alice/folder", "/alice/copy", { quota: { path: "/alice" } }));
    expect(await copied).toBe("done");
    expect((await entriesOf(storage)).map(({ path }) => path)).toEqual(["/alice/3"]);
  });

  it.each([
    ["removes no more than the disk lacks", false, ["/alice/2"]],
    ["removes nothing for a copy that is not wanted any more", true, ["/alice/2", "/alice/1"]],
  ])("%s", async (_what, isAborted, left) => {
    const abort = new AbortController();
    const disk = createDisk(() => {
      if (isAborted) abort.abort();
    });
    const { storage, pass } = openTrash({}, disk);
    await storage.createFolder("/alice");
    await fill(storage, "/alice/original", 3000);
    for (const [path, size] of [
      ["/alice/1", 2000],
      ["/alice/2", 4500],
    ] as const) {
      await fill(storage, path, size);
      await storage.remove(path);
      pass(1);
    }
    const options = { quota: { path: "/alice" }, signal: abort.signal };
    const copied = codeOf(storage.copy("/alice/original", "/alice/copy", options));
    expect(await copied).toBe(isAborted ? "no-space" : "done");
    expect((await entriesOf(storage)).map(({ path }) => path)).toEqual(left);
  });
});
