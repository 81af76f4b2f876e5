import { describe, expect, it } from "vitest";
import { createMemoryStorage } from "../../../../src/storage/memory.ts";
import { mountStorage } from "../../../../src/storage/mount.ts";
import { createQuotaStorage } from "../../../../src/storage/quota.ts";
import { createTrashStorage } from "../../../../src/storage/trash.ts";
import { put, readFileText } from "../../../../src/testing/storage/content.ts";
import { fillStorage, overrideStorage, withLinks } from "../../../support/storage.ts";
import { codeOf, entriesOf, openTrash, pathsIn } from "./setup.ts";

describe("createTrashStorage", () => {
  it("moves what is removed to the trash, and restores it with its properties", async () => {
    const { inner, storage } = openTrash();
    await fillStorage(storage, { "/alice/a.txt": "a", "/alice/folder/b.txt": "b" });
    await storage.attributes?.change("/alice/a.txt", { properties: new Map([["{x}y", "<y/>"]]) });
    const before = await storage.stat("/alice/a.txt");
    const ids: string[] = [];
    await storage.remove("/alice/a.txt", { onTrashed: (trashed) => ids.push(trashed) });
    const [id] = ids;
    await storage.remove("/alice/folder");
    expect(id).toMatch(/^20260101T000000000Z-[0-9a-f]{16}$/);
    expect(await pathsIn(storage)).toEqual(["/alice/"]);
    const place = `/__svc__/trash/alice/a.txt~t/${id}`;
    expect(await pathsIn(inner)).toEqual(expect.arrayContaining([`${place}/data`, `${place}/info.json`]));
    expect(JSON.parse(await readFileText(inner, `${place}/info.json`))).toEqual({
      path: "/alice/a.txt",
      kind: "file",
      removed: "2026-01-01T00:00:00.000Z",
      size: 1,
    });
    const entries = await entriesOf(storage);
    expect(entries.map(({ path, kind, size }) => [path, kind, size]).sort()).toEqual([
      ["/alice/a.txt", "file", 1],
      ["/alice/folder", "folder", 0],
    ]);
    for (const entry of entries) expect(await storage.trash.restore(entry.id)).toBe(entry.path);
    expect(await storage.stat("/alice/a.txt")).toEqual(before);
    expect(await storage.attributes?.properties("/alice/a.txt")).toEqual(new Map([["{x}y", "<y/>"]]));
    expect(await readFileText(storage, "/alice/folder/b.txt")).toBe("b");
    expect(await entriesOf(storage)).toEqual([]);
  });

  it("lists what came from below a folder, the newest first", async () => {
    const { storage, pass } = openTrash();
    for (const path of ["/alice/1", "/alice/deep/2", "/bob/3", "/alice/4", "/alice2/5"]) {
      await fillStorage(storage, { [path]: path });
      await storage.remove(path);
      pass(1);
    }
    const pathsBelow = async (folder: string) => (await entriesOf(storage, folder)).map(({ path }) => path);
    expect(await pathsBelow("/alice")).toEqual(["/alice/4", "/alice/deep/2", "/alice/1"]);
    expect(await pathsBelow("/")).toEqual(["/alice2/5", "/alice/4", "/bob/3", "/alice/deep/2", "/alice/1"]);
    expect(await pathsBelow("/alice/deep")).toEqual(["/alice/deep/2"]);
    expect(await pathsBelow("/alice/4")).toEqual([]);
    expect(await pathsBelow("/missing")).toEqual([]);
  });

  it("lists more entries than it holds at a time, each once and in order", async () => {
    const { inner, storage } = openTrash();
    const ids = Array.from({ length: 5300 }, (_, index) => {
      const time = new Date(Date.UTC(2025, 11, 31) + ((index * 7919) % 5303) * 1000);
      return `${time.toISOString().replace(/[-:.]/g, "")}-0123456789abcdef`;
    });
    const files = ids.map((id, index) => [`/__svc__/trash/home/${index % 7}~t/${id}/data`, "x"] as const);
    await fillStorage(inner, Object.fromEntries(files));
    const found = (await entriesOf(storage, "/home")).map(({ id }) => id);
    expect(found).toEqual([...ids].sort().reverse());
  });

  it("keeps several removals of one path apart", async () => {
    const { storage, pass } = openTrash();
    for (const text of ["first", "second"]) {
      await put(storage, "/a", text);
      await storage.remove("/a");
      pass(1);
    }
    const [second, first] = await entriesOf(storage);
    expect(await storage.trash.restore(first?.id ?? "")).toBe("/a");
    expect(await codeOf(storage.trash.restore(second?.id ?? ""))).toBe("already-exists");
    expect(await storage.trash.restore(second?.id ?? "", "/new/folder/b")).toBe("/new/folder/b");
    expect([await readFileText(storage, "/a"), await readFileText(storage, "/new/folder/b")]).toEqual([
      "first",
      "second",
    ]);
  });

  it("gives one path that is removed twice at once to one caller", async () => {
    const { inner, storage } = openTrash();
    for (const kind of ["file", "folder"] as const) {
      await (kind === "file" ? put(storage, "/a", "text") : storage.createFolder("/a"));
      const results = await Promise.all(Array.from({ length: 8 }, () => codeOf(storage.remove("/a"))));
      expect(results.sort()).toEqual(["done", ...Array.from({ length: 7 }, () => "not-found")]);
    }
    expect(await entriesOf(storage)).toHaveLength(2);
    expect((await pathsIn(inner)).filter((path) => path.endsWith("info.json"))).toHaveLength(2);
  });

  it("makes the missing folders around what is restored, and no others", async () => {
    const { storage } = openTrash();
    await fillStorage(storage, { "/a/b/c": "text", "/file": "x" });
    await storage.remove("/a/b/c");
    await storage.remove("/a");
    const entry = (await entriesOf(storage)).find(({ path }) => path === "/a/b/c");
    const id = entry?.id ?? "";
    expect(await codeOf(storage.trash.restore(id, "/file/below"))).toBe("not-a-folder");
    for (const to of ["/", "/__svc__", "/__svc__/trash/x", "/__svc__/new"]) {
      expect(await codeOf(storage.trash.restore(id, to))).toBe("denied");
    }
    await expect(storage.trash.restore(id, "/../x")).rejects.toThrow(TypeError);
    expect(await storage.trash.restore(id)).toBe("/a/b/c");
    expect(await readFileText(storage, "/a/b/c")).toBe("text");
    expect(await codeOf(storage.trash.restore(id))).toBe("not-found");
  });

  it("leaves no folder of a restoration that is refused, unless others use it", async () => {
    const memory = createMemoryStorage();
    let other = "";
    const base = overrideStorage(memory, {
      async createFolder(path) {
        await memory.createFolder(path);
        if (path === "/shared/a/b" && other !== "") await put(memory, other, "1");
      },
    });
    const { storage } = openTrash({}, createQuotaStorage(base, { folders: [{ path: "/shared", bytes: 10 }] }));
    await fillStorage(storage, { "/shared/": "", "/big": "x".repeat(50) });
    await storage.remove("/big");
    const [entry] = await entriesOf(storage);
    const restore = (to: string) => codeOf(storage.trash.restore(entry?.id ?? "", to));
    expect(await restore("/shared/a/b/big")).toBe("no-space");
    expect(await pathsIn(storage)).toEqual(["/shared/"]);
    other = "/shared/a/other";
    expect(await restore("/shared/a/b/big")).toBe("no-space");
    expect(await pathsIn(storage)).toEqual([other]);
    expect(await restore("/a/b/big")).toBe("done");
  });

  it("takes no name for an ID that is none", async () => {
    const { storage } = openTrash();
    await fillStorage(storage, { "/a": "a", "/folder/b": "b" });
    await storage.remove("/a");
    const ids = ["", "..", "../..", "/", "a~t", "20260101T000000000Z-0123456789abcdef/..", "20260101T000000000Z-", "x"];
    for (const id of [...ids, "20261399T000000000Z-0123456789abcdef", "20260101T000000000Z-0123456789abcdef"]) {
      expect(await codeOf(storage.trash.restore(id))).toBe("not-found");
      expect(await storage.trash.purge(id)).toBe(false);
      expect(await storage.trash.find("/", [id])).toEqual([]);
      for await (const member of storage.trash.members(id)) expect(member).toBeUndefined();
    }
    expect(await pathsIn(storage)).toEqual(["/folder/b"]);
    expect(await entriesOf(storage)).toHaveLength(1);
  });

  it("finds entries by their IDs below a folder, and what is in them", async () => {
    const { storage } = openTrash();
    await fillStorage(storage, { "/alice/folder/a": "a", "/alice/folder/b/c": "c", "/bob/x": "x" });
    await storage.remove("/alice/folder");
    await storage.remove("/bob/x");
    const ids = (await entriesOf(storage)).map(({ id }) => id);
    const found = await storage.trash.find("/alice", [...ids, ...ids]);
    expect(found.map(({ path }) => path)).toEqual(["/alice/folder"]);
    const members: string[] = [];
    for await (const { segments, kind } of storage.trash.members(found[0]?.id ?? "")) {
      members.push(`${kind} ${segments.join("/")}`);
    }
    expect(members.sort()).toEqual(["file a", "file b/c", "folder b"]);
  });

  it("removes entries for good, and each one once", async () => {
    const { inner, storage } = openTrash();
    await fillStorage(storage, { "/a": "a", "/folder/b": "b" });
    for (const path of ["/a", "/folder"]) await storage.remove(path);
    for (const { id } of await entriesOf(storage)) {
      const results = await Promise.all([1, 2, 3].map(() => storage.trash.purge(id)));
      expect(results.filter(Boolean)).toHaveLength(1);
      expect(await codeOf(storage.trash.restore(id))).toBe("not-found");
    }
    expect((await pathsIn(inner)).filter((path) => !path.endsWith("/"))).toEqual([]);
  });

  it("removes for good what a caller asks for, links, and empty files of systems", async () => {
    const memory = createMemoryStorage();
    await fillStorage(memory, { "/link": "target" });
    const { storage } = openTrash({}, withLinks(memory, ["/link"]));
    await fillStorage(storage, { "/a": "a", "/.DS_Store": "", "/._a": "", "/empty": "", "/._b": "b" });
    await storage.remove("/a", { permanent: true });
    for (const path of ["/.DS_Store", "/._a", "/empty", "/._b", "/link"]) await storage.remove(path);
    expect((await entriesOf(storage)).map(({ path }) => path).sort()).toEqual(["/._b", "/empty"]);
  });

  it("keeps conditions and kinds, and leaves no trace of a refusal", async () => {
    const { inner, storage } = openTrash();
    await fillStorage(storage, { "/a": "a", "/folder/b": "b" });
    expect(await codeOf(storage.remove("/a", { kind: "folder" }))).toBe("not-found");
    expect(await codeOf(storage.remove("/a", { ifMatch: ['"x"'] }))).toBe("precondition-failed");
    expect(await codeOf(storage.remove("/folder", { kind: "file" }))).toBe("not-found");
    expect(await codeOf(storage.remove("/folder", { ifMatch: "*" }))).toBe("precondition-failed");
    expect(await codeOf(storage.remove("/"))).toBe("denied");
    expect(await pathsIn(inner)).toEqual(["/a", "/folder/b"]);
    await storage.remove("/a", { ifMatch: "*", kind: "file" });
    expect(await entriesOf(storage)).toHaveLength(1);
  });

  it("keeps a folder that a copy or a move replaces, and puts it back if that fails", async () => {
    const { storage } = openTrash();
    for (const verb of ["copy", "move"] as const) {
      await fillStorage(storage, { "/from/new": "new", "/to/old": "old" });
      expect(await codeOf(storage[verb]("/missing", "/to", { replace: true }))).toBe("not-found");
      expect(await codeOf(storage[verb]("/from", "/to", { replace: true, kind: "file" }))).toBe("not-found");
      expect(await codeOf(storage[verb]("/from", "/to"))).toBe("already-exists");
      expect(await entriesOf(storage)).toEqual([]);
      expect(await storage[verb]("/from", "/to", { replace: true })).toBe("replaced");
      expect(await readFileText(storage, "/to/new")).toBe("new");
      const [entry] = await entriesOf(storage);
      expect(entry).toMatchObject({ path: "/to", kind: "folder" });
      await storage.remove("/to", { permanent: true });
      await storage.trash.restore(entry?.id ?? "");
      expect(await readFileText(storage, "/to/old")).toBe("old");
      expect(await entriesOf(storage)).toEqual([]);
    }
  });

  it("puts nothing of a move between two storages in the trash", async () => {
    const one = createTrashStorage(createMemoryStorage());
    const other = createTrashStorage(createMemoryStorage());
    const tree = mountStorage({ "/": one, "/other": other });
    await fillStorage(tree, { "/a": "a", "/folder/b": "b" });
    await tree.move("/a", "/other/a");
    await tree.move("/folder", "/other/folder");
    expect([await entriesOf(one), await entriesOf(other)]).toEqual([[], []]);
    const ids: string[] = [];
    await tree.remove("/other/folder", { onTrashed: (trashed) => ids.push(trashed) });
    expect((await entriesOf(other)).map((entry) => [entry.id, entry.path])).toEqual([[ids[0], "/folder"]]);
  });

  it("hides its area", async () => {
    const { storage } = openTrash();
    await put(storage, "/a", "a");
    await storage.remove("/a");
    const [entry] = await entriesOf(storage);
    const path = `/__svc__/trash/a~t/${entry?.id}/data`;
    expect([await storage.stat(path), await storage.stat("/__svc__"), await pathsIn(storage)]).toEqual([
      undefined,
      undefined,
      [],
    ]);
    // As the contract of a storage has it for a path at which `stat` finds nothing.
    for (const listed of ["/__svc__", path]) {
      expect(await codeOf(storage.list(listed)[Symbol.asyncIterator]().next())).toBe("not-found");
    }
    expect(await codeOf(storage.read(path))).toBe("not-found");
    expect(await codeOf(storage.remove("/__svc__"))).toBe("not-found");
    expect(await codeOf(put(storage, path, "b"))).toBe("denied");
    expect(await codeOf(storage.move(path, "/b"))).toBe("denied");
  });

  it("hides its area also on a disk that ignores the case of names", async () => {
    const memory = createMemoryStorage();
    const toSame = (path: string) => path.replace(/^\/__svc__/iu, "/__svc__");
    const disk = overrideStorage(memory, {
      stat: (path) => memory.stat(toSame(path)),
      read: (path, range) => memory.read(toSame(path), range),
    });
    const { storage } = openTrash({}, disk);
    await put(storage, "/a", "a");
    await storage.remove("/a");
    const [entry] = await entriesOf(storage);
    expect(await codeOf(disk.read(`/__SVC__/trash/a~t/${entry?.id}/data`))).toBe("done");
    for (const area of ["/__SVC__", "/__\u017fvc__"]) {
      expect(await storage.stat(area)).toBeUndefined();
      expect(await codeOf(storage.read(`${area}/trash/a~t/${entry?.id}/data`))).toBe("not-found");
    }
  });

  it("refuses wrong options by name", () => {
    const memory = createMemoryStorage();
    expect(() => createTrashStorage(memory, { keepSeconds: -1 })).toThrow(/keepSeconds/);
    expect(() => createTrashStorage(memory, { maxBytes: 0.5 })).toThrow(/maxBytes/);
    expect(() => createTrashStorage(memory, { makeRoom: 1 as unknown as boolean })).toThrow(/makeRoom/);
    expect(() => createTrashStorage(memory, { keep: 1 } as object)).toThrow(/^The option keep must be left out/);
  });
});

describe("names in the trash", () => {
  const ID = "20260101T000000000Z-0123456789abcdef";

  it("may be of any length, and end as those of the trash do", async () => {
    const { inner, storage } = openTrash();
    const long = "ä".repeat(127);
    const paths = [
      `/${long}`,
      `/${"n".repeat(255)}`,
      `/${"n".repeat(254)}m`,
      "/a~t",
      "/a~t~t",
      "/x~v",
      "/info.json",
      "/data",
    ];
    for (const path of paths) await put(storage, path, path);
    for (const path of paths) await storage.remove(path);
    const names = (await pathsIn(inner)).flatMap((path) => path.split("/"));
    expect(Math.max(...names.map((name) => Buffer.byteLength(name)))).toBeLessThanOrEqual(255);
    const entries = await entriesOf(storage);
    expect(entries.map(({ path }) => path).sort()).toEqual(paths.sort());
    for (const { id, path } of entries) {
      await storage.trash.restore(id);
      expect(await readFileText(storage, path)).toBe(path);
    }
  });

  it("may be in folders of any depth", async () => {
    const { storage } = openTrash();
    const deep = Array.from({ length: 300 }, (_, level) => `/level ${level}`).join("");
    const other = `${deep.slice(0, -1)}x`;
    await fillStorage(storage, { [`${deep}/a`]: "a", [`${other}/b`]: "b" });
    await storage.remove(`${deep}/a`);
    await storage.remove(`${other}/b`);
    expect((await entriesOf(storage, deep)).map(({ path }) => path)).toEqual([`${deep}/a`]);
    expect(await entriesOf(storage, "/level 0")).toHaveLength(2);
    for (const { id } of await entriesOf(storage, other)) await storage.trash.restore(id);
    expect(await readFileText(storage, `${other}/b`)).toBe("b");
  });

  it("never put an entry into another one", async () => {
    const { inner, storage } = openTrash();
    await fillStorage(storage, { "/a/kept": "kept" });
    await storage.remove("/a");
    const [entry] = await entriesOf(storage);
    const attack = `/a~t/${entry?.id}`;
    const paths = [`${attack}/data/x`, `${attack}/info.json/x`, `${attack}/purged`, `/a~t/${ID}/y`, `/a~t/${ID}~f`];
    for (const path of paths) {
      await fillStorage(storage, { [path]: path });
      await storage.remove(path);
    }
    const kept = (await pathsIn(inner)).filter((path) => path.startsWith(`/__svc__/trash${attack}/`));
    expect(kept).toEqual([`/__svc__/trash${attack}/data/kept`, `/__svc__/trash${attack}/info.json`]);
    expect((await entriesOf(storage)).map(({ path }) => path).sort()).toEqual(["/a", ...paths].sort());
    expect((await entriesOf(storage, attack)).map(({ path }) => path).sort()).toEqual(paths.slice(0, 3).sort());
    await storage.trash.restore(entry?.id ?? "");
    expect(await pathsIn(storage, "/a")).toEqual(["/a/kept"]);
  });

  it("inside a removed folder are no entries", async () => {
    const { storage } = openTrash();
    await fillStorage(storage, { [`/folder/b~t/${ID}/data`]: "x", [`/folder/b~t/${ID}/info.json`]: '{"path":"/bob"}' });
    await storage.remove("/folder");
    expect((await entriesOf(storage)).map(({ path }) => path)).toEqual(["/folder"]);
    expect(await storage.trash.purge(ID)).toBe(false);
    expect(await codeOf(storage.trash.restore(ID))).toBe("not-found");
  });
});
