import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { StorageEntry, WriteOptions } from "../../../src/contracts/storage-adapter.ts";
import { createDiskStorage } from "../../../src/storage/disk.ts";
import { createQuotaStorage } from "../../../src/storage/quota.ts";
import { findReplacingWrite } from "../../../src/storage/replacing-write.ts";

const root = mkdtempSync(join(tmpdir(), "replacing-"));
afterAll(() => rmSync(root, { recursive: true }));

const disk = createDiskStorage({ root, durability: "rename" });

async function* bytes(count: number, meanwhile?: () => Promise<unknown>): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(count);
  await meanwhile?.();
}

/** Writes a file. Returns what the storage reports as replaced. */
async function replace(
  path: string,
  content: AsyncIterable<Uint8Array>,
  options: WriteOptions = {},
): Promise<StorageEntry | undefined | "nothing told"> {
  let told: StorageEntry | undefined | "nothing told" = "nothing told";
  const write = findReplacingWrite(disk);
  await write?.(path, content, options, (replaced) => {
    told = replaced;
  });
  return told;
}

describe("a write of the disk storage that tells what it replaces", () => {
  it("tells of nothing for a new file", async () => {
    expect(await replace("/new", bytes(1))).toBeUndefined();
    expect(await replace("/newest", bytes(1), { ifNoneMatch: "*" })).toBeUndefined();
  });

  it("tells of the file that was there in the last moment", async () => {
    await disk.write("/a", bytes(10));
    expect(await replace("/a", bytes(20))).toMatchObject({ kind: "file", size: 10 });
    expect(
      await replace(
        "/a",
        bytes(40, () => disk.write("/a", bytes(30))),
      ),
    ).toMatchObject({ size: 30 });
    expect(
      await replace(
        "/a",
        bytes(50, () => disk.remove("/a")),
      ),
    ).toBeUndefined();
  });

  it("tells of a link as a link", async () => {
    symlinkSync("a", join(root, "link"));
    expect(await replace("/link", bytes(1))).toMatchObject({ kind: "link", size: 0 });
  });

  it("tells nothing if it fails", async () => {
    await disk.createFolder("/folder");
    const write = findReplacingWrite(disk);
    let isTold = false;
    const writing = write?.("/folder", bytes(1), {}, () => {
      isTold = true;
    });
    await expect(writing).rejects.toMatchObject({ code: "not-a-file" });
    expect(isTold).toBe(false);
  });

  it("is not that of a storage that follows links, of a wrapper, or of a storage with another write", () => {
    const traced = createDiskStorage({ root });
    const { write } = traced;
    traced.write = (...written) => write(...written);
    expect(findReplacingWrite(traced)).toBeUndefined();
    expect(findReplacingWrite(createDiskStorage({ root, links: "inside" }))).toBeUndefined();
    expect(findReplacingWrite(createQuotaStorage(disk))).toBeUndefined();
  });
});

describe("a quota around it", () => {
  it("looks at no file to store a small one where there is much room, and counts exactly", async () => {
    const counted = createDiskStorage({ root: mkdtempSync(join(root, "quota-")), durability: "rename" });
    let looks = 0;
    const { stat } = counted;
    counted.stat = (path) => {
      looks += 1;
      return stat(path);
    };
    const storage = createQuotaStorage(counted, { folders: [{ path: "/", bytes: 10_000_000 }] });
    await storage.write("/a", bytes(1000), { size: 1000 });
    await storage.write(
      "/a",
      bytes(300, () => storage.write("/a", bytes(500), { size: 500 })),
      { size: 300 },
    );
    expect(looks).toBe(0);
    expect(await storage.quota.usage("/")).toEqual({ bytes: 300, files: 1, reservedBytes: 0, reservedFiles: 0 });
    // A large file is compared with what it will replace before it comes, and again before it does.
    await storage.write("/b", bytes(65_537), { size: 65_537 });
    await storage.write("/b", bytes(65_537), { size: 65_537 });
    expect(looks).toBe(3);
    expect(await storage.quota.usage("/")).toMatchObject({ bytes: 65_837, files: 2 });
  });

  it("leaves room for others that a file needs only until it has replaced another one", async () => {
    const counted = createDiskStorage({ root: mkdtempSync(join(root, "quota-")), durability: "rename" });
    const storage = createQuotaStorage(counted, { folders: [{ path: "/", bytes: 2000, files: 2 }] });
    await storage.write("/a", bytes(1000), { size: 1000 });
    const writing = bytes(1000, () => storage.write("/b", bytes(1000), { size: 1000 }));
    await storage.write("/a", writing, { size: 1000 });
    expect(await storage.quota.usage("/")).toMatchObject({ bytes: 2000, files: 2, reservedBytes: 0 });
  });
});
