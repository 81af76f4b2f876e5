import { describe, expect, it } from "vitest";
import type { FileVersion } from "../../../src/contracts/kept/versions.ts";
import { StorageError } from "../../../src/contracts/storage-adapter.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { mountStorage } from "../../../src/storage/mount.ts";
import { mountVersions } from "../../../src/storage/mount-versions.ts";
import { createQuotaStorage } from "../../../src/storage/quota.ts";
import { createVersionsStorage } from "../../../src/storage/versions.ts";
import { put, readFileText } from "../../../src/testing/storage/content.ts";
import { overrideStorage } from "../../support/storage.ts";
import { codeOf } from "./trash/setup.ts";

async function openTree() {
  let now = Date.UTC(2026, 0, 1);
  const options = { keepSeconds: 3600, clock: () => now };
  const [root, archive] = [1, 2].map(() => createVersionsStorage(createQuotaStorage(createMemoryStorage()), options));
  if (root === undefined || archive === undefined) throw new Error("two are needed");
  await root.createFolder("/archive");
  // What another storage hides.
  for (const content of ["hidden", "hiding"]) await put(root, "/archive/a", content);
  const tree = mountStorage({ "/": root, "/archive": archive, "/plain": createMemoryStorage() });
  const versions = mountVersions({ "/": root.versions, "/archive": archive.versions, "/plain": undefined });
  for (const path of ["/a", "/archive/a", "/plain/a"]) {
    for (const content of ["first", "second"]) {
      await put(tree, path, `${content} of ${path}`);
      now += 1000;
    }
  }
  return { tree, versions, root, archive, pass: (seconds: number) => (now += 1000 * seconds) };
}

async function listOf(versions: AsyncIterable<FileVersion>): Promise<readonly FileVersion[]> {
  const found: FileVersion[] = [];
  for await (const version of versions) found.push(version);
  return found;
}

describe("mountVersions", () => {
  it("finds the versions of the storage that a path belongs to", async () => {
    const { tree, versions } = await openTree();
    const [ofRoot, ...others] = await listOf(versions.list("/a"));
    const [ofArchive, ...hidden] = await listOf(versions.list("/archive/a"));
    expect([others, hidden, await listOf(versions.list("/plain/a"))]).toEqual([[], [], []]);
    const [idOfRoot, idOfArchive] = [ofRoot?.id ?? "", ofArchive?.id ?? ""];
    expect(await versions.find("/a", idOfRoot)).toEqual(ofRoot);
    expect(await versions.find("/archive/a", idOfRoot)).toBeUndefined();
    expect(await versions.find("/plain/a", idOfRoot)).toBeUndefined();
    expect((await versions.read("/archive/a", idOfArchive)).entry.size).toBe("first of /archive/a".length);
    expect(await codeOf(versions.read("/plain/a", idOfArchive))).toBe("not-found");
    await versions.restore("/archive/a", idOfArchive);
    expect(await readFileText(tree, "/archive/a")).toBe("first of /archive/a");
    expect(await codeOf(versions.restore("/a", idOfArchive))).toBe("not-found");
    expect(await codeOf(versions.restore("/plain/a", idOfArchive))).toBe("not-found");
    expect(await versions.purge("/plain/a", idOfRoot)).toBe(false);
    expect(await versions.purge("/a", idOfRoot)).toBe(true);
    expect(await versions.purge("/a", idOfRoot)).toBe(false);
  });

  it("hands a limit on by its path in the storage", async () => {
    const { versions } = await openTree();
    const [version] = await listOf(versions.list("/archive/a"));
    const restore = (path: string) => versions.restore("/archive/a", version?.id ?? "", { quota: { path, bytes: 1 } });
    expect(await codeOf(restore("/archive"))).toBe("no-space");
    // What is around the storage is not known there.
    expect(await codeOf(restore("/"))).toBe("done");
  });

  it("is swept also where one storage fails", async () => {
    const { root, archive, pass } = await openTree();
    pass(3601);
    const broken = { ...archive.versions, sweep: () => Promise.reject(new StorageError("unavailable")) };
    expect(await codeOf(mountVersions({ "/": root.versions, "/archive": broken }).sweep())).toBe("unavailable");
    expect([await root.versions.sweep(), await archive.versions.sweep()]).toEqual([0, 1]);
  });

  it("reports failures by the paths of the tree, until it is told to end", async () => {
    const remove = () => Promise.reject(new StorageError("unavailable"));
    const archive = createVersionsStorage(overrideStorage(createMemoryStorage(), { remove }), { keep: 1 });
    const tree = mountStorage({ "/": createMemoryStorage(), "/archive": archive });
    const failures: unknown[] = [];
    const end = mountVersions({ "/": undefined, "/archive": archive.versions }).watch((one) => failures.push(one));
    for (const content of ["1", "2", "3"]) await put(tree, "/archive/a", content);
    const failure = { path: "/archive/a", error: expect.objectContaining({ code: "unavailable" }) };
    expect(failures).toEqual([failure]);
    end();
    await put(tree, "/archive/a", "4");
    expect(failures).toHaveLength(1);
  });

  it("is swept as one", async () => {
    const { versions, pass } = await openTree();
    pass(3601);
    expect(await versions.sweep()).toBe(3);
    expect(await listOf(versions.list("/a"))).toEqual([]);
  });
});
