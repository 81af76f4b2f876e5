import { link, lstat, mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createDiskStorage } from "../../../../src/storage/disk.ts";
import { createVersionsStorage } from "../../../../src/storage/versions.ts";
import { createFaultyStorage } from "../../../../src/testing/faulty-storage.ts";
import { inChunks, noise, put, readFileText } from "../../../../src/testing/storage/content.ts";
import { fillStorage } from "../../../support/storage.ts";
import { codeOf } from "../trash/setup.ts";
import { openVersions, textsOf, versionsOf } from "./setup.ts";

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "fileferry-versions-"));
});
afterEach(() => rm(root, { recursive: true, force: true }));

const inodeOf = async (path: string): Promise<number> => (await lstat(join(root, path))).ino;

describe("versions on a disk", () => {
  it("cost a hard link and two looks at the file, and no reading", async () => {
    const calls: string[] = [];
    const disk = createFaultyStorage(createDiskStorage({ root }), ({ verb, step }) => {
      if (step === "call") calls.push(verb);
      return undefined;
    });
    const storage = createVersionsStorage(disk, { keep: 3 });
    for (const text of ["1", "22"]) await put(storage, "/a", text);
    const former = await inodeOf("a");
    calls.length = 0;
    await put(storage, "/a", "333");
    expect(calls).toEqual(["write", "stat", "stat", "copy"]);
    const [version] = await versionsOf(storage, "/a");
    expect(await inodeOf(`__svc__/versions/a~v/${version?.id}`)).toBe(former);
    // One that is too many goes without a listing.
    for (const text of ["4444", "55555"]) await put(storage, "/a", text);
    calls.length = 0;
    await put(storage, "/a", "666666");
    expect(calls).toEqual(["write", "stat", "stat", "copy", "remove"]);
    expect(await textsOf(storage, "/a")).toEqual(["55555", "4444", "333"]);
  });

  it("keep the time of the file, and their bytes when the file changes", async () => {
    const { storage } = openVersions({}, createDiskStorage({ root, durability: "rename" }));
    const { modified } = await put(storage, "/a", "one", { modified: new Date(Date.UTC(2020, 1, 2)) });
    expect(modified.getUTCFullYear()).toBe(2020);
    await put(storage, "/a", "two");
    const [version] = await versionsOf(storage, "/a");
    expect(version?.modified).toEqual(modified);
    await storage.attributes?.change("/a", { modified: new Date(0) });
    await storage.versions.restore("/a", version?.id ?? "");
    await put(storage, "/a", "three");
    expect(await readFile(join(root, `__svc__/versions/a~v/${version?.id}`), "utf8")).toBe("one");
    expect(await textsOf(storage, "/a")).toEqual(["one", "two", "one"]);
    expect((await versionsOf(storage, "/a")).at(-1)?.modified).toEqual(modified);
  });

  it("find equal content of a large file without a length", async () => {
    const { storage } = openVersions({}, createDiskStorage({ root, durability: "rename" }));
    const bytes = noise(700_000, 1);
    for (const size of [65_536, 10_000]) await storage.write("/a", inChunks(bytes, size));
    expect(await versionsOf(storage, "/a")).toEqual([]);
    bytes[699_999] = (bytes[699_999] ?? 0) ^ 1;
    await storage.write("/a", inChunks(bytes, 65_536));
    expect((await versionsOf(storage, "/a")).length).toBe(1);
  });

  it("stay with a file whose move a crash has cut in two: a sweep ends it, an hour later", async () => {
    const { inner, storage, pass } = openVersions({}, createDiskStorage({ root, durability: "rename" }));
    await storage.createFolder("/folder");
    for (const text of ["one", "two"]) await put(storage, "/a", text);
    const [version] = await versionsOf(storage, "/a");
    const { etag = "" } = (await storage.stat("/a")) ?? {};
    const record = { from: "/a", to: "/folder/b", kind: "file", etag, ids: [version?.id] };
    await fillStorage(inner, { [`/__svc__/versions-moves/${version?.id}`]: JSON.stringify(record) });
    await link(join(root, "a"), join(root, "folder/b"));
    await storage.versions.sweep();
    expect(await textsOf(storage, "/a")).toEqual(["one"]);
    pass(3700);
    await storage.versions.sweep();
    expect(await storage.stat("/a")).toBeUndefined();
    expect([await readFileText(storage, "/folder/b"), await textsOf(storage, "/folder/b")]).toEqual(["two", ["one"]]);
  });

  it("follow no links", async () => {
    const disk = createDiskStorage({ root, durability: "rename" });
    await put(disk, "/secret", "secret");
    await symlink("secret", join(root, "link"));
    const { storage } = openVersions({}, disk);
    expect(await codeOf(disk.copy("/link", "/copy", { mayShare: true }))).toBe("not-found");
    await put(storage, "/link", "a file now");
    expect(await versionsOf(storage, "/link")).toEqual([]);
    expect(await readFileText(storage, "/secret")).toBe("secret");
  });
});

describe("a copy on a disk that may share", () => {
  it("is a hard link with the conditions of a copy", async () => {
    const disk = createDiskStorage({ root });
    const { etag = "" } = await put(disk, "/a", "one");
    await disk.createFolder("/folder");
    expect(await disk.copy("/a", "/folder/b", { mayShare: true, ifMatch: [etag] })).toBe("created");
    expect(await inodeOf("folder/b")).toBe(await inodeOf("a"));
    expect(await codeOf(disk.copy("/a", "/folder/b", { mayShare: true }))).toBe("already-exists");
    expect(await codeOf(disk.copy("/a", "/c", { mayShare: true, ifMatch: ['"other"'] }))).toBe("precondition-failed");
    expect(await codeOf(disk.copy("/a", "/missing/c", { mayShare: true }))).toBe("parent-missing");
    expect(await codeOf(disk.copy("/folder", "/folders", { mayShare: true, kind: "file" }))).toBe("not-found");
    // What replaces something is a copy of its own.
    expect(await disk.copy("/a", "/folder/b", { mayShare: true, replace: true })).toBe("replaced");
    expect(await inodeOf("folder/b")).not.toBe(await inodeOf("a"));
  });
});
