import { link, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { createDiskStorage } from "../../../src/storage/disk.ts";
import { createQuotaStorage } from "../../../src/storage/quota.ts";
import { mountIgnoringCase } from "./disk-image.ts";

const disk = mountIgnoringCase();
afterAll(() => disk.remove());

describe.skipIf(disk.root === undefined)(`a disk that ignores the case of names${disk.reason}`, () => {
  it.each([{}, { replace: true }])("gives a file or folder another case, and counts it once (%j)", async (options) => {
    const root = await mkdtemp(join(disk.root ?? "", "root-"));
    const storage = createQuotaStorage(createDiskStorage({ root, durability: "rename" }), {
      folders: [{ path: "/", bytes: 1000 }],
    });
    for (const name of ["alone", "linked"]) await writeFile(join(root, name), name);
    await link(join(root, "linked"), join(root, "other"));
    await mkdir(join(root, "folder"));
    await writeFile(join(root, "folder/inside"), "inside");
    const before = await storage.quota.usage("/");
    for (const [from, to] of [
      ["/alone", "/Alone"],
      ["/linked", "/LINKED"],
      ["/folder", "/Folder"],
    ] as const) {
      expect(await storage.move(from, to, options)).toBe("created");
    }
    const names = (await readdir(root)).map((name) => name.toLowerCase());
    expect([names.sort(), await readdir(join(root, "folder"))]).toEqual([
      ["alone", "folder", "linked", "other"],
      ["inside"],
    ]);
    expect(await storage.quota.usage("/")).toEqual(before);
    expect(await storage.quota.recount("/")).toEqual(before);
  });
});

it("of two hard links whose names differ in case, a move removes one", async () => {
  const root = await mkdtemp(join(tmpdir(), "fileferry-names-"));
  onTestFinished(() => rm(root, { recursive: true }));
  await writeFile(join(root, "name"), "x");
  await link(join(root, "name"), join(root, "NAME"));
  const storage = createDiskStorage({ root, durability: "rename" });
  expect(await storage.move("/name", "/NAME", { replace: true })).toBe("replaced");
  expect(await readdir(root)).toEqual(["NAME"]);
});
