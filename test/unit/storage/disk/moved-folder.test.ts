import { mkdir, mkdtemp, readdir, readFile, rename, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createDiskStorage } from "../../../../src/storage/disk.ts";

let base: string;
/** A symlink to `one`. */
let root: string;

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "fileferry-moved-"));
  for (const folder of ["one/a/b", "two/a/b"]) await mkdir(join(base, folder), { recursive: true });
  root = join(base, "root");
  await symlink("one", root);
});

afterEach(() => rm(base, { recursive: true }));

/** Content in two chunks. `change` is made between them. */
async function* contentAround(change: () => Promise<unknown>): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode("first ");
  await change();
  yield new TextEncoder().encode("second");
}

describe("a write into a folder of a disk", () => {
  it.each(["/a", "/a/b"])("fails if %s is moved meanwhile, and leaves nothing there", async (folder) => {
    const storage = createDiskStorage({ root });
    const moved = join(base, "moved");
    const content = contentAround(() => rename(join(root, folder), moved));
    await expect(storage.write(`${folder}/new`, content)).rejects.toMatchObject({ code: "parent-missing" });
    expect(await readdir(moved)).not.toContain("new");
  });

  it.each(["/a", "/a/b"])("fails if another folder gets the name of %s meanwhile", async (folder) => {
    const storage = createDiskStorage({ root });
    const moved = join(base, "moved");
    const content = contentAround(async () => {
      await rename(join(root, folder), moved);
      await mkdir(join(root, folder));
    });
    await expect(storage.write(`${folder}/new`, content)).rejects.toMatchObject({ code: "parent-missing" });
    expect([await readdir(moved), await readdir(join(root, folder))].flat()).not.toContain("new");
  });

  it.each(["", "/a", "/a/b"])("goes on if %j is where the root leads to now", async (folder) => {
    const storage = createDiskStorage({ root });
    await rm(root);
    await symlink("two", root);
    const content = contentAround(async () => undefined);
    await storage.write(`${folder}/new`, content);
    expect(await readFile(join(base, "two", folder, "new"), "utf8")).toBe("first second");
  });

  it.each(["", "/a"])("into %j goes on if the root leads elsewhere meanwhile", async (folder) => {
    const storage = createDiskStorage({ root });
    await rm(root);
    await symlink("two", root);
    const content = contentAround(async () => {
      await rm(root);
      await symlink("one", root);
    });
    await storage.write(`${folder}/new`, content);
    expect(await readFile(join(base, "two", folder, "new"), "utf8")).toBe("first second");
  });

  it("fails if its folder is moved to where one of that path was when the storage was created", async () => {
    await mkdir(join(base, "one/files"));
    await rm(root);
    await symlink("one/files", root);
    await mkdir(join(root, "c"));
    const storage = createDiskStorage({ root });
    await rm(root);
    await symlink("one", root);
    await rm(join(base, "one/files/c"), { recursive: true });
    await mkdir(join(base, "one/c"));
    const content = contentAround(() => storage.move("/c", "/files/c"));
    await expect(storage.write("/c/new", content)).rejects.toMatchObject({ code: "parent-missing" });
    expect(await readdir(join(base, "one/files/c"))).toEqual([]);
  });

  it("fails if a folder where the root leads to now is moved meanwhile", async () => {
    const storage = createDiskStorage({ root });
    await rm(root);
    await symlink("two", root);
    const moved = join(base, "moved");
    const content = contentAround(() => rename(join(root, "a"), moved));
    await expect(storage.write("/a/new", content)).rejects.toMatchObject({ code: "parent-missing" });
    expect(await readdir(moved)).not.toContain("new");
  });
});
