import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { AtomicKeyValueStore } from "../../../src/contracts/atomic-store.ts";
import type { StorageAdapter, WriteOptions } from "../../../src/contracts/storage-adapter.ts";
import { createDiskStorage } from "../../../src/storage/disk.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { createQuotaStorage } from "../../../src/storage/quota.ts";
import { findReplacingWrite, noteReplacingWrite } from "../../../src/storage/replacing-write.ts";
import { createMemoryKeyValueStore } from "../../../src/stores/memory.ts";

const root = mkdtempSync(join(tmpdir(), "replacing-"));
afterAll(() => rmSync(root, { recursive: true }));

const disk = createDiskStorage({ root, durability: "rename" });

async function* bytes(count: number, meanwhile?: () => Promise<unknown>): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(count);
  await meanwhile?.();
}

/** Writes a file. Returns the size that the storage reports as replaced. */
async function replace(
  path: string,
  content: AsyncIterable<Uint8Array>,
  options: WriteOptions = {},
): Promise<number | undefined | "nothing told"> {
  let told: number | undefined | "nothing told" = "nothing told";
  const write = findReplacingWrite(disk);
  await write?.(path, content, options, {
    mayHaveChanged: () => true,
    note(size) {
      told = size;
    },
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
    expect(await replace("/a", bytes(20))).toBe(10);
    expect(
      await replace(
        "/a",
        bytes(40, () => disk.write("/a", bytes(30))),
      ),
    ).toBe(30);
    expect(
      await replace(
        "/a",
        bytes(50, () => disk.remove("/a")),
      ),
    ).toBeUndefined();
  });

  it("tells of a link as of no file", async () => {
    symlinkSync("a", join(root, "link"));
    expect(await replace("/link", bytes(1))).toBeUndefined();
  });

  it("tells nothing if it fails", async () => {
    await disk.createFolder("/folder");
    const write = findReplacingWrite(disk);
    let isTold = false;
    const note = (): void => {
      isTold = true;
    };
    const writing = write?.("/folder", bytes(1), {}, { mayHaveChanged: () => false, note });
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

  const meanwhile: Readonly<Record<string, (storage: StorageAdapter) => Promise<unknown>>> = {
    "is written": (storage) => storage.write("/d/a", bytes(500), { size: 500 }),
    "is removed": (storage) => storage.remove("/d/a"),
    "is moved away": async (storage) => storage.move?.("/d/a", "/d/b"),
    "is replaced by a copy": async (storage) => {
      await storage.write("/d/b", bytes(30));
      await storage.copy?.("/d/b", "/d/a", { replace: true });
    },
    "is replaced by an upload": async ({ uploads }) => {
      const key = { owner: "alice", id: "0123456789abcdef0123456789abcdef" };
      await uploads?.create(key, "/d/a", { size: 70, note: "", expires: new Date(Date.now() + 60_000) });
      await uploads?.append(key, 0, bytes(70));
      await uploads?.complete(key);
    },
    "is removed with the other files of its folder": async (storage) => {
      await storage.write("/d/b", bytes(30));
      await storage.remove("/d");
      await storage.createFolder("/d");
    },
  };

  it.each(Object.entries(meanwhile))("counts exactly if the file %s while another one comes", async (_what, change) => {
    const counted = createDiskStorage({ root: mkdtempSync(join(root, "quota-")), durability: "rename" });
    const storage = createQuotaStorage(counted, { folders: [{ path: "/", bytes: 10_000_000 }] });
    await storage.createFolder("/d");
    await storage.write("/d/a", bytes(1000), { size: 1000 });
    await storage
      .write(
        "/d/a",
        bytes(300, () => change(storage)),
        { size: 300 },
      )
      .catch(() => undefined);
    const usage = await storage.quota.usage("/");
    expect(usage).toMatchObject({ reservedBytes: 0, reservedFiles: 0 });
    expect(usage).toEqual(await storage.quota.recount("/"));
  });

  it("has the disk look again only if something may have changed", async () => {
    const folders = [{ path: "/", bytes: 10_000_000 }];
    const asked: boolean[] = [];
    const createNoted = (store?: AtomicKeyValueStore): StorageAdapter => {
      const memory = createMemoryStorage();
      const { write } = memory;
      noteReplacingWrite(memory, async (path, content, options, { mayHaveChanged, note }) => {
        const replaced = await memory.stat(path);
        const entry = await write(path, content, options);
        asked.push(mayHaveChanged());
        note(replaced?.size);
        return entry;
      });
      return createQuotaStorage(memory, { folders, ...(store && { store }) });
    };
    const storage = createNoted();
    await storage.write("/a", bytes(1));
    await Promise.all(["/a", "/b", "/c"].map((path) => storage.write(path, bytes(2))));
    expect(asked.splice(0)).toEqual([false, false, false, false]);
    await storage.write(
      "/a",
      bytes(3, () => storage.remove("/b")),
    );
    expect(asked.splice(0)).toEqual([false]);
    await storage.write(
      "/a",
      bytes(4, () => storage.remove("/a")),
    );
    expect(asked.splice(0)).toEqual([true]);
    // Other processes may have changed it.
    await createNoted(createMemoryKeyValueStore()).write("/a", bytes(1));
    expect(asked).toEqual([true]);
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
