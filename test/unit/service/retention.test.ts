import { mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type StorageAdapter, StorageError, type StorageErrorCode } from "../../../src/contracts/storage-adapter.ts";
import { removeExpiredFiles } from "../../../src/service/retention.ts";
import { createDiskStorage } from "../../../src/storage/disk.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { createTrashStorage } from "../../../src/storage/trash.ts";
import { createVersionsStorage } from "../../../src/storage/versions.ts";
import { makeFolder } from "../../support/built.ts";
import { fillStorage, overrideStorage } from "../../support/storage.ts";

const RULES = [{ path: "/", seconds: 60 }];
const later = (): number => Date.now() + 120_000;
const onDenied = (): never => expect.unreachable();
/** Nothing is locked. */
async function removeUnlocked(_path: string, remove: () => Promise<void>): Promise<boolean> {
  await remove();
  return true;
}

/** A storage whose file `/b` cannot be removed, for a reason. */
async function createRefusing(code: StorageErrorCode): Promise<StorageAdapter> {
  const storage = createMemoryStorage();
  await fillStorage(storage, { "/a": "a", "/b": "b", "/c/d": "d" });
  return overrideStorage(storage, {
    async remove(path, options) {
      if (path === "/b") throw new StorageError(code);
      await storage.remove(path, options);
    },
  });
}

describe("the removal of files whose retention is over", () => {
  it.each(["not-found", "not-a-file", "precondition-failed"] as const)("goes on after %s", async (code) => {
    expect(
      await removeExpiredFiles(await createRefusing(code), RULES, { now: later(), removeUnlocked, onDenied }),
    ).toBe(2);
  });

  it("goes on after a file that may not be removed, and says so", async () => {
    const denied: unknown[] = [];
    const options = { now: later(), removeUnlocked, onDenied: (error: unknown) => denied.push(error) };
    expect(await removeExpiredFiles(await createRefusing("denied"), RULES, options)).toBe(2);
    expect(denied).toEqual([expect.objectContaining({ code: "denied" })]);
  });

  /** A storage with old files, whose folder cannot be listed, for a reason. */
  async function createUnlistable(folder: string, code: StorageErrorCode): Promise<StorageAdapter> {
    const storage = createMemoryStorage();
    await fillStorage(storage, { "/a": "a", "/b/c": "c", "/d": "d", "/e/f": "f" });
    return overrideStorage(storage, {
      async *list(path) {
        if (path === folder) throw new StorageError(code);
        yield* storage.list(path);
      },
    });
  }

  it.each(["denied", "not-a-folder"] as const)("goes on after a folder that is %s, and names it", async (code) => {
    const denied: unknown[] = [];
    const options = { now: later(), removeUnlocked, onDenied: (...given: unknown[]) => denied.push(given) };
    expect(await removeExpiredFiles(await createUnlistable("/b", code), RULES, options)).toBe(3);
    expect(denied).toEqual([[expect.objectContaining({ code }), "/b"]]);
  });

  it("goes on after a rule whose path is a file, and after one whose folder does not exist", async () => {
    const storage = createMemoryStorage();
    await fillStorage(storage, { "/a": "a", "/b/c": "c" });
    const denied: unknown[] = [];
    const options = { now: later(), removeUnlocked, onDenied: (...given: unknown[]) => denied.push(given) };
    const rules = ["/a", "/missing", "/b"].map((path) => ({ path, seconds: 60 }));
    expect(await removeExpiredFiles(storage, rules, options)).toBe(1);
    expect(denied).toEqual([[expect.objectContaining({ code: "not-a-folder" }), "/a"]]);
    expect(await storage.stat("/a")).toMatchObject({ kind: "file" });
  });

  it("ends if a folder cannot be listed because the storage fails", async () => {
    const storage = await createUnlistable("/b", "unavailable");
    const removal = removeExpiredFiles(storage, RULES, { now: later(), removeUnlocked, onDenied });
    await expect(removal).rejects.toMatchObject({ code: "unavailable" });
  });

  it("ends if the storage fails", async () => {
    const storage = await createRefusing("unavailable");
    const removal = removeExpiredFiles(storage, RULES, { now: later(), removeUnlocked, onDenied });
    await expect(removal).rejects.toMatchObject({ code: "unavailable" });
  });

  it("follows no links, also if the storage does", async () => {
    const root = await makeFolder();
    await mkdir(join(root, "inbox"));
    await mkdir(join(root, "archive"));
    for (const path of ["inbox/old", "archive/kept"]) await writeFile(join(root, path), "a");
    await symlink("../archive", join(root, "inbox/link"));
    await symlink("../archive/kept", join(root, "inbox/kept"));
    const storage = createDiskStorage({ root, links: "inside" });
    const rules = [{ path: "/inbox", seconds: 60 }];
    expect(await removeExpiredFiles(storage, rules, { now: later(), removeUnlocked, onDenied })).toBe(1);
    expect((await readdir(join(root, "inbox"))).sort()).toEqual(["kept", "link"]);
    expect(await readdir(join(root, "archive"))).toEqual(["kept"]);
  });

  it("leaves what the trash and the versions keep, also by a rule for the whole storage", async () => {
    const storage = createTrashStorage(createVersionsStorage(createMemoryStorage()));
    await fillStorage(storage, { "/a": "a", "/b": "b" });
    await fillStorage(storage, { "/b": "bb" });
    await storage.remove("/a");
    for (const count of [1, 0]) {
      expect(await removeExpiredFiles(storage, RULES, { now: later(), removeUnlocked, onDenied })).toBe(count);
    }
    const kept: string[] = [];
    for await (const { path } of storage.trash.list("/")) kept.push(path);
    expect(kept.sort()).toEqual(["/a", "/b"]);
  });
});
