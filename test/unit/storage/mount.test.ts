import { describe, expect, it } from "vitest";
import { OptionError } from "../../../src/contracts/option-error.ts";
import type { StorageAdapter } from "../../../src/contracts/storage-adapter.ts";
import { createFolderStorage } from "../../../src/storage/folder-storage.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { mountStorage } from "../../../src/storage/mount.ts";
import { fillStorage } from "../../support/storage.ts";

async function* content(): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode("x");
}

async function namesIn(storage: StorageAdapter, path: string): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const { name, kind } of storage.list(path)) names.push(kind === "folder" ? `${name}/` : name);
  return names.sort();
}

async function createTree() {
  const [disk, archive, deep] = [createMemoryStorage(), createMemoryStorage(), createMemoryStorage()];
  await fillStorage(disk, { "/a/b/hidden": "x", "/a/own": "x", "/file": "x", "/archive-2/own": "x" });
  await fillStorage(archive, { "/old/1": "x", "/x/2": "x" });
  await fillStorage(deep, { "/3": "x" });
  const tree = mountStorage({
    "/": disk,
    "/a/b": archive,
    "/a/b/x/y": deep,
    "/file/on/way": deep,
    "/archive": archive,
  });
  return { disk, archive, deep, tree };
}

describe("mountStorage", () => {
  it("gives each path to the storage of the longest place, compared by whole segments", async () => {
    const { tree } = await createTree();
    const places: [string, string | undefined][] = [
      ["/a/own", "file"],
      ["/a/b/old/1", "file"],
      ["/a/b/x/2", "file"],
      ["/a/b/x/y/3", "file"],
      ["/a/b/hidden", undefined],
      ["/archive/old/1", "file"],
      ["/archive-2/own", "file"],
      ["/archive-2/old", undefined],
      ["/archive", "folder"],
    ];
    for (const [path, kind] of places) expect([path, (await tree.stat(path))?.kind]).toEqual([path, kind]);
  });

  it("lists a storage in its place, in place of what it hides", async () => {
    const { tree } = await createTree();
    expect(await namesIn(tree, "/")).toEqual(["a/", "archive-2/", "archive/", "file/"]);
    expect(await namesIn(tree, "/a")).toEqual(["b/", "own"]);
    expect(await namesIn(tree, "/a/b")).toEqual(["old/", "x/"]);
    expect(await namesIn(tree, "/a/b/x")).toEqual(["2", "y/"]);
    expect(await namesIn(tree, "/file")).toEqual(["on/"]);
    expect(await namesIn(tree, "/file/on")).toEqual(["way/"]);
  });

  it("names an entry as its place does, the root as the empty text", async () => {
    const { tree } = await createTree();
    expect((await tree.stat("/a/b"))?.name).toBe("b");
    expect((await tree.stat("/file/on"))?.name).toBe("on");
    expect((await tree.stat("/"))?.name).toBe("");
    for (const folder of ["", "/a", "/a/b", "/a/b/x", "/file"]) {
      for await (const entry of tree.list(folder || "/")) {
        expect(entry).toEqual(await tree.stat(`${folder}/${entry.name}`));
      }
    }
  });

  it("describes a folder on the way as its storage does, and one that exists nowhere as a folder", async () => {
    const { disk, tree } = await createTree();
    expect(await tree.stat("/a")).toEqual(await disk.stat("/a"));
    const nowhere = { kind: "folder", size: 0, modified: new Date(0) };
    expect(await tree.stat("/file")).toEqual({ name: "file", ...nowhere });
    expect(await tree.stat("/file/on")).toEqual({ name: "on", ...nowhere });
  });

  it("leaves the root of a lone storage as it is", async () => {
    const storage = createFolderStorage(createMemoryStorage(), ["missing"]);
    expect(await mountStorage({ "/": storage }).stat("/")).toBeUndefined();
  });

  it.each(["/", "/a", "/a/b", "/a/b/x", "/a/b/x/y", "/file", "/file/on", "/archive"])(
    "keeps %s as a folder: it is neither removed, made, read nor overwritten",
    async (path) => {
      const { tree, archive } = await createTree();
      await expect(tree.remove(path)).rejects.toMatchObject({
        code: "denied",
        message: "Another storage is mounted here.",
      });
      await expect(tree.createFolder(path)).rejects.toMatchObject({ code: "already-exists" });
      await expect(tree.read(path)).rejects.toMatchObject({ code: "not-a-file" });
      await expect(tree.write(path, content())).rejects.toMatchObject({ code: "not-a-file" });
      expect((await archive.stat("/old/1"))?.kind).toBe("file");
    },
  );

  it("puts nothing into a folder that is only the way to a storage, or hides a file", async () => {
    const { tree, disk } = await createTree();
    const denied = { code: "denied", message: "No storage is mounted at this folder." };
    for (const path of ["/file/x", "/file/on/x"]) {
      await expect(tree.write(path, content())).rejects.toMatchObject(denied);
      await expect(tree.createFolder(path)).rejects.toMatchObject(denied);
    }
    await expect(tree.write("/file/x/y", content())).rejects.toMatchObject({ code: "not-a-folder" });
    expect((await disk.stat("/file"))?.kind).toBe("file");
  });

  it("puts a member into a real folder on the way", async () => {
    const { tree, disk, archive } = await createTree();
    await tree.write("/a/new", content());
    expect((await disk.stat("/a/new"))?.size).toBe(1);
    await tree.write("/a/b/x/new", content());
    expect((await archive.stat("/x/new"))?.size).toBe(1);
  });

  it.each(["a", "/a/", "//a", "/a/../b", ""])("throws TypeError for the place %j", (path) => {
    expect(() => mountStorage({ "/": createMemoryStorage(), [path]: createMemoryStorage() })).toThrow(TypeError);
  });

  it("throws TypeError without a root", () => {
    const refusal = new OptionError("mounts", 'an object with a storage at "/"');
    expect(() => mountStorage({ "/a": createMemoryStorage() })).toThrow(refusal);
  });
});

describe("createFolderStorage", () => {
  it("never leaves its folder, whatever the path", async () => {
    const base = createMemoryStorage();
    await fillStorage(base, { "/home/own": "x", "/homex/secret": "x", "/secret": "x" });
    const storage = createFolderStorage(base, ["home"]);
    for (const path of ["x/secret", "x", "../secret", "/../secret", "/./own", "", "/own/../../secret", "//secret"]) {
      await expect(storage.stat(path)).rejects.toThrow(TypeError);
      await expect(storage.read(path)).rejects.toThrow(TypeError);
      await expect(storage.write(path, content())).rejects.toThrow(TypeError);
      await expect(storage.createFolder(path)).rejects.toThrow(TypeError);
      await expect(storage.remove(path)).rejects.toThrow(TypeError);
      await expect(namesIn(storage, path)).rejects.toThrow(TypeError);
    }
    expect(await namesIn(base, "/homex")).toEqual(["secret"]);
  });

  it("names its members as the storage does, its root as the empty text", async () => {
    const base = createMemoryStorage();
    await fillStorage(base, { "/a/home/own": "x" });
    const storage = createFolderStorage(base, ["a", "home"]);
    expect(await storage.stat("/own")).toEqual(await base.stat("/a/home/own"));
    expect(await storage.stat("/")).toEqual({ ...(await base.stat("/a/home")), name: "" });
  });

  it("is empty and takes nothing where its folder is missing", async () => {
    const base = createMemoryStorage();
    const storage = createFolderStorage(base, ["home"]);
    expect(await storage.stat("/")).toBeUndefined();
    await expect(namesIn(storage, "/")).rejects.toMatchObject({ code: "not-found" });
    const isFolder = { code: "not-a-file", message: "The root is a folder, not a file." };
    await expect(storage.read("/")).rejects.toMatchObject(isFolder);
    await expect(storage.write("/", content())).rejects.toMatchObject(isFolder);
    const isThere = { code: "already-exists", message: "The root folder already exists." };
    await expect(storage.createFolder("/")).rejects.toMatchObject(isThere);
    await expect(storage.write("/a", content())).rejects.toMatchObject({ code: "parent-missing" });
    await expect(storage.remove("/")).rejects.toMatchObject({
      code: "denied",
      message: "The root folder cannot be removed.",
    });
    expect(await base.stat("/home")).toBeUndefined();
  });
});
