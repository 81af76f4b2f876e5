import "../errno/wrapped-fs.ts";
import { existsSync, readdirSync, renameSync, statSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { StorageAdapter } from "../../../src/contracts/storage-adapter.ts";
import { createDiskStorage, type Durability } from "../../../src/storage/disk.ts";
import { openDescriptors, strike, struck, watchCalls } from "../errno/failing-calls.ts";

const FILES_PER_FOLDER = 60;
const FOLDERS = ["tree", "tree/inner", "tree/inner/deep"];
const FILES = FOLDERS.length * FILES_PER_FOLDER;

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "fileferry-copies-"));
  await mkdir(join(root, FOLDERS.at(-1) ?? ""), { recursive: true });
  for (const folder of FOLDERS) {
    for (let index = 0; index < FILES_PER_FOLDER; index += 1) await writeFile(join(root, folder, `${index}`), "text");
  }
});

afterEach(async () => {
  strike();
  vi.useRealTimers();
  await rm(root, { recursive: true });
});

async function serve(durability: Durability): Promise<StorageAdapter> {
  const storage = createDiskStorage({ root, durability });
  watchCalls(root);
  // The storage looks for leftovers when it begins.
  await expect.poll(() => openDescriptors()).toBe(0);
  return storage;
}

/** Looks again in each turn of the event loop until the work is done. */
async function watch(work: Promise<unknown>, look: () => void): Promise<void> {
  let isDone = false;
  const done = work.then(
    () => (isDone = true),
    () => (isDone = true),
  );
  while (!isDone) {
    look();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await done;
}

describe("a copy of a folder on a disk", () => {
  it("is on the device before it has its name, so that a power failure leaves all or nothing", async () => {
    const storage = await serve("fsync");
    strike({ call: "rename", errno: "EIO", nth: 1, lasts: "once", effect: "before" });
    await expect(storage.copy("/tree", "/copy")).rejects.toMatchObject({ code: "unavailable" });
    const { counts } = struck();
    expect([counts.get("fsync file"), counts.get("fsync folder")]).toEqual([FILES, FOLDERS.length]);
    strike();
    expect(await storage.copy("/tree", "/copy")).toBe("created");
    // The last one is the folder that has the copy's name.
    expect([struck().counts.get("rename"), struck().counts.get("fsync folder")]).toEqual([1, FOLDERS.length + 1]);
  });

  it("waits for no device with durability rename", async () => {
    const storage = await serve("rename");
    strike();
    await storage.copy("/tree", "/copy");
    const { counts } = struck();
    expect([counts.get("fsync file"), counts.get("fsync folder")]).toEqual([undefined, undefined]);
    expect(counts.get("open new file")).toBe(FILES);
  });

  it("opens a few files at a time, however many there are", async () => {
    const storage = await serve("fsync");
    let most = 0;
    const copying = storage.copy("/tree", "/copy");
    await watch(copying, () => {
      most = Math.max(most, openDescriptors());
    });
    await copying;
    // Of four files the original and the copy, and the folders above them.
    expect(most).toBeLessThanOrEqual(2 * 4 + 2 * FOLDERS.length + 2);
  });

  it("opens no more folders at a time for a deep tree", async () => {
    const deep = "d/".repeat(300);
    await mkdir(join(root, "tree", deep), { recursive: true });
    for (const depth of [100, 200, 300]) await writeFile(join(root, "tree", "d/".repeat(depth), "file"), `${depth}`);
    const storage = await serve("rename");
    let most = 0;
    const copying = storage.copy("/tree", "/copy");
    await watch(copying, () => {
      most = Math.max(most, openDescriptors());
    });
    expect(await copying).toBe("created");
    expect(most).toBeLessThanOrEqual(2 * 4 + 10);
    for (const depth of [100, 200, 300])
      expect(await readFile(join(root, "copy", "d/".repeat(depth), "file"), "utf8")).toBe(`${depth}`);
    expect(await readdir(join(root, "copy", deep))).toEqual(["file"]);
    // The storage still looks for leftovers, one folder at a time.
    await expect.poll(() => openDescriptors()).toBe(0);
  });

  it("copies more subfolders than it remembers at a time, each with its members", async () => {
    for (let index = 0; index < 1040; index += 1)
      await mkdir(join(root, "tree/inner/deep", `folder ${index}`, index % 20 === 0 ? "d" : ""), { recursive: true });
    const storage = await serve("rename");
    expect(await storage.copy("/tree", "/copy")).toBe("created");
    const listed = await readdir(join(root, "copy"), { recursive: true });
    expect(listed.sort()).toEqual((await readdir(join(root, "tree"), { recursive: true })).sort());
    await expect.poll(() => openDescriptors()).toBe(0);
  });

  it("fails if a folder is moved out of the tree meanwhile, and copies nothing from elsewhere", async () => {
    const storage = await serve("fsync");
    strike();
    const copying = storage.copy("/tree", "/copy");
    let isMoved = false;
    await watch(copying, () => {
      if (isMoved || (struck().counts.get("open new file") ?? 0) <= 2 * FILES_PER_FOLDER + 10) return;
      isMoved = true;
      renameSync(join(root, "tree/inner"), join(root, "moved"));
    });
    await expect(copying).rejects.toMatchObject({ code: "unavailable" });
    expect((await readdir(root)).sort()).toEqual(["moved", "tree"]);
    expect(openDescriptors()).toBe(0);
  });

  it("touches its temporary folder while it copies far below: other machines take an old one for abandoned", async () => {
    const storage = await serve("rename");
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    const times: bigint[] = [];
    await watch(storage.copy("/tree", "/copy"), () => {
      const temporary = readdirSync(root).find((name) => name.startsWith(".fileferry-"));
      if (temporary === undefined || !existsSync(join(root, temporary, "inner"))) return;
      const stats = statSync(join(root, temporary), { bigint: true, throwIfNoEntry: false });
      if (stats !== undefined) times.push(stats.ctimeNs);
      if (times.length === 1) vi.advanceTimersByTime(1_800_000);
    });
    expect(new Set(times).size).toBeGreaterThan(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("ends with the reason of a signal that aborts meanwhile, and leaves nothing", async () => {
    const storage = await serve("fsync");
    strike();
    const controller = new AbortController();
    const reason = new Error("The client has left.");
    const copying = storage.copy("/tree", "/copy", { signal: controller.signal });
    await watch(copying, () => {
      if ((struck().counts.get("open new file") ?? 0) > FILES_PER_FOLDER + 10) controller.abort(reason);
    });
    await expect(copying).rejects.toBe(reason);
    expect(struck().counts.get("open new file")).toBeLessThan(FILES);
    expect(await readdir(root)).toEqual(["tree"]);
    expect(openDescriptors()).toBe(0);
  });

  it("is not made where one of its files cannot be flushed", async () => {
    const storage = await serve("fsync");
    strike({ call: "fsync file", errno: "ENOSPC", nth: FILES_PER_FOLDER + 10, lasts: "once", effect: "before" });
    await expect(storage.copy("/tree", "/copy")).rejects.toMatchObject({ code: "no-space" });
    expect(struck().counts.get("open new file")).toBeLessThan(FILES);
    expect(await readdir(root)).toEqual(["tree"]);
    expect(openDescriptors()).toBe(0);
  });
});
