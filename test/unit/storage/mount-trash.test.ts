import { describe, expect, it } from "vitest";
import type { Trash } from "../../../src/contracts/kept/trash.ts";
import { StorageError } from "../../../src/contracts/storage-adapter.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { mountStorage } from "../../../src/storage/mount.ts";
import { mountTrash } from "../../../src/storage/mount-trash.ts";
import { createTrashStorage } from "../../../src/storage/trash.ts";
import { put, readFileText } from "../../../src/testing/storage/content.ts";
import { fillStorage } from "../../support/storage.ts";
import { codeOf, entriesOf } from "./trash/setup.ts";

async function openTree() {
  let now = Date.UTC(2026, 0, 1);
  const clock = () => now;
  const [root, archive, deep] = [1, 2, 3].map(() => createTrashStorage(createMemoryStorage(), { clock }));
  if (root === undefined || archive === undefined || deep === undefined) throw new Error("three are needed");
  // What another storage hides.
  await fillStorage(root, { "/archive/hidden": "h" });
  await root.remove("/archive/hidden");
  const tree = mountStorage({ "/": root, "/archive": archive, "/archive/deep": deep, "/plain": createMemoryStorage() });
  const storages = { "/": root.trash, "/archive": archive.trash, "/archive/deep": deep.trash, "/plain": undefined };
  const trash = mountTrash(storages);
  const paths = ["/a", "/archive/b", "/archive/deep/c", "/archive/d"];
  for (const path of paths) {
    await put(tree, path, path);
    now += 1000;
    await tree.remove(path);
  }
  return { tree, trash, storages, pass: (seconds: number) => (now += 1000 * seconds) };
}

describe("mountTrash", () => {
  it("lists what was removed from all storages by the paths of the tree, the newest first", async () => {
    const { trash } = await openTree();
    const pathsBelow = async (below: string) => (await entriesOf({ trash }, below)).map(({ path }) => path);
    expect(await pathsBelow("/")).toEqual(["/archive/d", "/archive/deep/c", "/archive/b", "/a"]);
    expect(await pathsBelow("/archive")).toEqual(["/archive/d", "/archive/deep/c", "/archive/b"]);
    expect(await pathsBelow("/archive/deep")).toEqual(["/archive/deep/c"]);
    expect(await pathsBelow("/plain")).toEqual([]);
  });

  it("restores to the own storage only, and removes for good", async () => {
    const { tree, trash } = await openTree();
    const [d, c, b, a] = await entriesOf({ trash });
    for (const to of ["/x", "/plain/x", "/archive/deep/x", "/archive/deep"]) {
      expect(await codeOf(trash.restore(d?.id ?? "", to))).toBe("denied");
    }
    expect(await trash.restore(d?.id ?? "", "/archive/new/d")).toBe("/archive/new/d");
    expect(await readFileText(tree, "/archive/new/d")).toBe("/archive/d");
    expect(await trash.restore(a?.id ?? "")).toBe("/a");
    expect(await trash.purge(b?.id ?? "")).toBe(true);
    expect(await trash.purge(b?.id ?? "")).toBe(false);
    expect((await trash.find("/archive", [c?.id ?? "", "x"])).map(({ path }) => path)).toEqual(["/archive/deep/c"]);
    expect(await codeOf(trash.restore("20260101T000000000Z-0123456789abcdef"))).toBe("not-found");
  });

  it("covers what has a trash, also in a tree within the tree", async () => {
    const { trash } = await openTree();
    const outer = mountTrash({ "/": undefined, "/tree": trash });
    const folders = ["/", "/archive", "/archive/deep/c", "/plain", "/plain/x"];
    expect(folders.filter((folder) => trash.covers?.(folder))).toEqual(folders.slice(0, 3));
    expect(["/", "/other", "/tree", "/tree/plain"].filter((folder) => outer.covers?.(folder))).toEqual(["/tree"]);
  });

  it("finds an entry by the path of the tree that it was removed from", async () => {
    const { trash, storages } = await openTree();
    const [d, c] = await entriesOf({ trash });
    const paths = new Map([
      [d?.id ?? "", "/archive/d"],
      [c?.id ?? "", "/archive/deep/c"],
    ]);
    const fresh = mountTrash(storages);
    expect((await fresh.find("/", [...paths.keys()], paths)).map(({ path }) => path).sort()).toEqual([
      "/archive/d",
      "/archive/deep/c",
    ]);
    expect(await fresh.find("/archive/deep", [d?.id ?? ""], paths)).toEqual([]);
    expect(await fresh.restore(d?.id ?? "")).toBe("/archive/d");
  });

  it("sweeps what the others have if one storage fails, and hides nothing", async () => {
    const { storages, pass } = await openTree();
    const fail = () => Promise.reject(new StorageError("unavailable"));
    const failing = { [Symbol.asyncIterator]: () => ({ next: fail }) };
    const broken: Trash = { ...storages["/archive"], list: () => failing, find: fail, sweep: fail };
    const trash = mountTrash({ ...storages, "/archive": broken });
    expect(await codeOf(entriesOf({ trash }))).toBe("unavailable");
    expect(await codeOf(trash.find("/", ["of none"]))).toBe("unavailable");
    pass(31 * 86_400);
    expect(await codeOf(trash.sweep())).toBe("unavailable");
    const counts = Object.entries(storages).map(async ([path, one]) => [path, (await one?.sweep()) ?? 0]);
    expect(Object.fromEntries(await Promise.all(counts))).toEqual({
      "/": 0,
      "/archive": 2,
      "/archive/deep": 0,
      "/plain": 0,
    });
  });

  it("is swept and watched as one", async () => {
    const { trash, pass } = await openTree();
    const paths: string[] = [];
    const end = trash.watch(({ entry }) => paths.push(entry.path));
    pass(31 * 86_400);
    expect(await trash.sweep()).toBe(5);
    end();
    expect(paths.sort()).toEqual(["/a", "/archive/b", "/archive/d", "/archive/deep/c"]);
  });
});
