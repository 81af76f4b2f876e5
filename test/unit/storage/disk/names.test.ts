import fs from "node:fs";
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { createDiskStorage } from "../../../../src/storage/disk.ts";
import { namesIn, put } from "../../../../src/testing/storage/content.ts";

/** Names that Windows shortens, or reads as a device, a stream or the short name of another member. */
const CHANGED = [
  "a.",
  "a ",
  "a:b",
  "a?",
  "CON",
  "nul.txt",
  "aux .txt",
  "LONGNA~1.TXT",
  "longna~1",
  "LONGN7~X.TXT",
  "s0mk2b~q",
  "A0F3~12.",
  "a~1.b",
];
const KEPT = [
  "a.b",
  "console",
  "a~b",
  "~1",
  "a~1~",
  "longname~1.txt",
  "a~1.text",
  "a~1.b.c",
  "longname~x",
  "short~x",
  "ä",
  ".a",
];
const isLinux = process.platform === "linux";
let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "fileferry-names-"));
});

afterEach(() => rm(root, { recursive: true }));

/** Has the file system of every folder be of a type. */
function replaceType(type: () => bigint): void {
  const { statfsSync } = fs;
  Object.assign(fs, { statfsSync: () => ({ type: type() }) });
  syncBuiltinESMExports();
  onTestFinished(() => {
    Object.assign(fs, { statfsSync });
    syncBuiltinESMExports();
  });
}

function refuse(): never {
  throw Object.assign(new Error("ENOSYS"), { code: "ENOSYS" });
}

describe.skipIf(!isLinux)("a file system with the names of Windows (skipped unless Linux)", () => {
  it.each([
    ["FAT", 0x4d44n],
    ["exFAT", 0x2011bab0n],
    ["NTFS", 0x7366746en],
    ["NTFS by the older driver", 0x5346544en],
    ["CIFS", 0xff534d42n],
    ["CIFS on a system of 32 bits", -0xacb2ben],
    ["SMB", 0xfe534d42n],
  ])("%s keeps the names that stay as they are, and has no others", async (_, type) => {
    for (const name of CHANGED) await writeFile(join(root, name), "x");
    await mkdir(join(root, "folder."));
    replaceType(() => type);
    const storage = createDiskStorage({ root });
    expect(await namesIn(storage, "/")).toEqual([]);
    expect(await storage.stat("/")).toMatchObject({ kind: "folder" });
    for (const name of CHANGED) {
      await expect(put(storage, `/${name}`, "x")).rejects.toMatchObject({ code: "bad-name" });
      await expect(storage.createFolder(`/${name}`)).rejects.toMatchObject({ code: "bad-name" });
      await expect(storage.read(`/${name}`)).rejects.toMatchObject({ code: "not-found" });
      await expect(storage.remove(`/${name}`)).rejects.toMatchObject({ code: "not-found" });
      expect(await storage.stat(`/${name}`)).toBeUndefined();
    }
    await expect(put(storage, "/folder./file", "x")).rejects.toMatchObject({ code: "parent-missing" });
    for (const name of KEPT) await put(storage, `/${name}`, name);
    expect([...(await namesIn(storage, "/"))].sort()).toEqual([...KEPT].sort());
  });
});

describe.skipIf(!isLinux)("a link to a folder on such a file system (skipped unless Linux)", () => {
  it("is followed by its own name only", async () => {
    await mkdir(join(root, "target"));
    await writeFile(join(root, "target", "secret.txt"), "x");
    await symlink("target", join(root, "link"));
    await symlink("target", join(root, "LINKNA~1"));
    replaceType(() => 0x7366746en);
    const storage = createDiskStorage({ root, links: "inside" });
    expect(await storage.stat("/link/secret.txt")).toMatchObject({ kind: "file" });
    expect(await storage.stat("/LINKNA~1")).toBeUndefined();
    expect(await storage.stat("/LINKNA~1/secret.txt")).toBeUndefined();
    await expect(storage.read("/LINKNA~1/secret.txt")).rejects.toMatchObject({ code: "not-found" });
    await expect(storage.list("/LINKNA~1")[Symbol.asyncIterator]().next()).rejects.toMatchObject({ code: "not-found" });
    await expect(put(storage, "/LINKNA~1/new.txt", "x")).rejects.toMatchObject({ code: "parent-missing" });
  });
});

describe.skipIf(!isLinux)("another file system (skipped unless Linux)", () => {
  it.each([
    ["of another type", () => 0xef53n],
    ["whose type cannot be read", refuse],
  ])("%s keeps every name", async (_, type) => {
    replaceType(type);
    const storage = createDiskStorage({ root });
    for (const name of [...CHANGED, ...KEPT]) await put(storage, `/${name}`, name);
    expect([...(await readdir(root))].sort()).toEqual([...CHANGED, ...KEPT].sort());
  });
});
