import { cp, mkdir, mkdtemp, readdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { StorageAdapter } from "../../../../src/contracts/storage-adapter.ts";
import { createDiskStorage } from "../../../../src/storage/disk.ts";
import { put } from "../../../../src/testing/storage/content.ts";

const NAME = "{urn:example}name";
const FOLDER = ".fileferry-properties";

let root: string;
let storage: StorageAdapter;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "fileferry-properties-"));
  storage = createDiskStorage({ root, durability: "rename" });
});

afterEach(() => rm(root, { recursive: true }));

async function set(path: string, value: string | undefined): Promise<void> {
  await storage.attributes?.change(path, { properties: new Map([[NAME, value]]) });
}

async function get(path: string): Promise<string | undefined> {
  return (await storage.attributes?.properties(path))?.get(NAME);
}

describe("properties on a disk (WEBDAV 7)", () => {
  it("are in a folder that no client can list, reach, create or replace", async () => {
    await put(storage, "/a.txt", "a");
    await set("/a.txt", "x");
    expect(await readdir(root)).toContain(FOLDER);
    const names: string[] = [];
    for await (const { name } of storage.list("/")) names.push(name);
    expect(names).toEqual(["a.txt"]);
    for (const name of [FOLDER, FOLDER.toUpperCase()]) {
      expect(await storage.stat(`/${name}`)).toBe(undefined);
      const [record = ""] = await readdir(join(root, FOLDER));
      await expect(storage.read(`/${name}/${record}`)).rejects.toMatchObject({ code: "not-found" });
      await expect(storage.remove(`/${name}`)).rejects.toMatchObject({ code: "not-found" });
      await expect(storage.createFolder(`/${name}`)).rejects.toMatchObject({ code: "bad-name" });
      await expect(storage.move("/a.txt", `/${name}`, { replace: true })).rejects.toMatchObject({ code: "bad-name" });
      await expect(storage.move(`/${name}`, "/b")).rejects.toMatchObject({ code: "not-found" });
      await expect(storage.copy(`/${name}`, "/b")).rejects.toMatchObject({ code: "not-found" });
    }
    expect(await get("/a.txt")).toBe("x");
  });

  it("of a file that another program replaced by one of the same name are not shown", async () => {
    await put(storage, "/a.txt", "a");
    await set("/a.txt", "x");
    await rm(join(root, "a.txt"));
    await writeFile(join(root, "a.txt"), "another");
    expect(await get("/a.txt")).toBe(undefined);
    expect((await storage.stat("/a.txt"))?.hasProperties).toBe(undefined);
  });

  it("stay with a file that another program renames or changes in its folder", async () => {
    await put(storage, "/a.txt", "a");
    await set("/a.txt", "x");
    await writeFile(join(root, "a.txt"), "changed");
    await rename(join(root, "a.txt"), join(root, "b.txt"));
    expect(await get("/b.txt")).toBe("x");
  });

  it("leave nothing behind: the folder goes with the last of them", async () => {
    await put(storage, "/a.txt", "a");
    await storage.createFolder("/f");
    await put(storage, "/f/b.txt", "b");
    for (const path of ["/a.txt", "/f", "/f/b.txt", "/"]) await set(path, "x");
    expect(await readdir(join(root, FOLDER))).toHaveLength(3);
    await storage.remove("/a.txt");
    await storage.remove("/f");
    expect(await readdir(join(root, FOLDER))).toHaveLength(1);
    await set("/", undefined);
    expect(await readdir(root)).toEqual([]);
  });

  it("are replaced with the file that a move or a copy replaces", async () => {
    for (const verb of ["move", "copy"] as const) {
      await put(storage, "/plain.txt", "a");
      await put(storage, "/target.txt", "b");
      await set("/target.txt", "old");
      await storage[verb]("/plain.txt", "/target.txt", { replace: true });
      expect(await get("/target.txt")).toBe(undefined);
      expect(await readdir(root)).not.toContain(FOLDER);
    }
  });

  it("go along with each of many files in a copy of their folder, and with the folders in it", async () => {
    const names = Array.from({ length: 70 }, (_, index) => `/f/${index}.txt`);
    await storage.createFolder("/f");
    for (const name of names) await put(storage, name, name);
    await storage.createFolder("/f/inner");
    const described = [...names.filter((_, index) => index % 3 > 0), "/f/inner", "/f"];
    for (const path of described) await set(path, path);
    await storage.copy("/f", "/g");
    for (const path of [...names, "/f/inner", "/f"])
      expect(await get(path.replace("/f", "/g"))).toBe(described.includes(path) ? path : undefined);
  });

  it("of several at once that come and go none is lost", async () => {
    const names = Array.from({ length: 20 }, (_, index) => `/${index}.txt`);
    for (const name of names) await put(storage, name, "x");
    for (let round = 0; round < 5; round += 1) {
      await Promise.all(names.map((name, index) => set(name, (index + round) % 2 === 0 ? name : undefined)));
      const values = await Promise.all(names.map(get));
      expect(values).toEqual(names.map((name, index) => ((index + round) % 2 === 0 ? name : undefined)));
    }
  });

  it("survive writes at the same time as changes", async () => {
    await put(storage, "/a.txt", "a");
    await set("/a.txt", "x");
    await Promise.all([
      ...Array.from({ length: 10 }, (_, index) => put(storage, "/a.txt", `${index}`)),
      ...Array.from({ length: 10 }, (_, index) =>
        storage.attributes?.change("/a.txt", { properties: new Map([[`{}${index}`, "y"]]) }),
      ),
    ]);
    expect((await storage.attributes?.properties("/a.txt"))?.size).toBe(11);
    expect(await readdir(join(root, FOLDER))).toHaveLength(1);
  });

  it("are not read through a link, and broken ones are none", async () => {
    await put(storage, "/a.txt", "a");
    await set("/a.txt", "x");
    const [record = ""] = await readdir(join(root, FOLDER));
    await rename(join(root, FOLDER), join(root, "elsewhere"));
    await symlink(join(root, "elsewhere"), join(root, FOLDER));
    expect(await get("/a.txt")).toBe(undefined);
    await rm(join(root, FOLDER));
    await mkdir(join(root, FOLDER));
    for (const text of ["", "[1]", '{"a":"b"}', '[["a",1]]']) {
      await writeFile(join(root, FOLDER, record), text);
      expect(await get("/a.txt")).toBe(undefined);
    }
    await set("/a.txt", "y");
    expect(await get("/a.txt")).toBe("y");
  });

  it("move with a folder, also by another program; a copy by another program has none", async () => {
    await storage.createFolder("/f");
    await put(storage, "/f/a.txt", "a");
    await set("/f/a.txt", "x");
    await rename(join(root, "f"), join(root, "g"));
    expect(await get("/g/a.txt")).toBe("x");
    await cp(join(root, "g"), join(root, "h"), { recursive: true });
    expect(await get("/h/a.txt")).toBe(undefined);
  });

  it("stay when only the time is changed", async () => {
    await put(storage, "/a.txt", "a");
    await set("/a.txt", "x");
    const entry = await storage.attributes?.change("/a.txt", { modified: new Date("2001-02-03T04:05:06Z") });
    expect(entry?.hasProperties).toBe(true);
    expect(await get("/a.txt")).toBe("x");
  });
});
