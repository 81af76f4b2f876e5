import { link, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createDiskStorage } from "../../../../src/storage/disk.ts";

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "fileferry-same-"));
  await mkdir(join(root, "f/x/y"), { recursive: true });
  await writeFile(join(root, "f/x/y/file"), "deep");
});

afterEach(() => rm(root, { recursive: true }));

describe("two paths of one file on a disk", () => {
  it.each([
    ["/f/x/y", "/l/x"],
    ["/f/x", "/l/x"],
    ["/l/x", "/f/x/y/new"],
  ])("of %s and %s, by a link that is followed, neither replaces or takes in the other", async (from, to) => {
    await symlink("f", join(root, "l"));
    const storage = createDiskStorage({ root, links: "inside" });
    for (const verb of ["copy", "move"] as const) {
      await expect(storage[verb](from, to, { replace: true })).rejects.toMatchObject({ code: "denied" });
      expect(await readFile(join(root, "f/x/y/file"), "utf8")).toBe("deep");
    }
  });

  it("a link that is followed is moved as a link, also into the folder that it leads to", async () => {
    await symlink(join(root, "f"), join(root, "l"));
    const storage = createDiskStorage({ root, links: "inside" });
    await storage.move("/l", "/f/l");
    expect((await readdir(join(root, "f"))).sort()).toEqual(["l", "x"]);
  });

  it("a move of a file over another hard link to it removes the old name", async () => {
    const storage = createDiskStorage({ root });
    for (const to of ["two", "f/two"]) {
      await writeFile(join(root, "one"), "same");
      await link(join(root, "one"), join(root, to));
      expect(await storage.move("/one", `/${to}`, { replace: true })).toBe("replaced");
      expect(await readdir(root)).not.toContain("one");
      expect(await readFile(join(root, to), "utf8")).toBe("same");
    }
  });
});
