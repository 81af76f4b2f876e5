import fs from "node:fs";
import {
  chmod,
  chown,
  copyFile,
  lstat,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rm,
  statfs,
  writeFile,
} from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { StorageAdapter } from "../../../src/contracts/storage-adapter.ts";
import { createDiskStorage } from "../../../src/storage/disk.ts";
import { mountXfs } from "./disk-image.ts";

const LARGE = 64 * 1024 * 1024;
const MEDIUM = 1024 * 1024;
const isRoot = process.getuid?.() === 0;
const xfs = mountXfs();
let root = "";

afterAll(() => xfs.remove());
afterEach(async () => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
  await rm(root, { recursive: true });
});

/** Bytes that no file system makes smaller. */
function bytesOf(length: number, seed: number): Buffer {
  return Buffer.alloc(length, Buffer.from(`${seed} is the seed of these bytes. `));
}

async function putFile(name: string, content: Buffer, mode = 0o644): Promise<void> {
  const file = await open(join(root, name), "w");
  await file.writeFile(content);
  await file.sync();
  await file.close();
  await chmod(join(root, name), mode);
}

/** How many bytes of the file system an action uses up. */
async function usedBy(action: () => Promise<unknown>): Promise<number> {
  const free = async () => {
    const { bfree, bsize } = await statfs(root);
    return bfree * bsize;
  };
  const before = await free();
  await action();
  return before - (await free());
}

const modeOf = async (name: string): Promise<number> => (await lstat(join(root, name))).mode & 0o7777;
const ownMode = (): number => 0o666 & ~process.umask();
const unfinished = async (): Promise<readonly string[]> =>
  (await readdir(root, { recursive: true })).filter((name) => name.includes(".fileferry-"));

function watchClones() {
  const clones = vi.spyOn(fs.promises, "copyFile");
  syncBuiltinESMExports();
  return clones;
}

describe.skipIf(xfs.root === undefined)(`a copy on a file system whose files can share blocks${xfs.reason}`, () => {
  let storage: StorageAdapter;

  beforeEach(async () => {
    root = await mkdtemp(join(xfs.root ?? "", "root-"));
    storage = createDiskStorage({ root });
  });

  it("of a file uses no space for the bytes, and is a file of its own", async () => {
    const content = bytesOf(LARGE, 1);
    await putFile("file", content);
    expect(await usedBy(() => storage.copy("/file", "/copy"))).toBeLessThan(LARGE / 32);
    expect((await readFile(join(root, "copy"))).equals(content)).toBe(true);
    const [file, copy] = [await storage.stat("/file"), await storage.stat("/copy")];
    expect(copy?.size).toBe(LARGE);
    expect(copy?.etag).not.toBe(file?.etag);
    expect((await lstat(join(root, "copy"))).nlink).toBe(1);
    expect(await modeOf("copy")).toBe(ownMode());
    expect(await unfinished()).toEqual([]);
  });

  it("of a folder uses no space for the bytes of its files", async () => {
    await mkdir(join(root, "tree/inner"), { recursive: true });
    const content = bytesOf(LARGE, 2);
    await putFile("tree/inner/large", content);
    for (const name of ["tree/a", "tree/b", "tree/c"]) await putFile(name, bytesOf(MEDIUM, 3));
    await writeFile(join(root, "tree/small"), "small");
    expect(await usedBy(() => storage.copy("/tree", "/copy"))).toBeLessThan(LARGE / 32);
    expect((await readFile(join(root, "copy/inner/large"))).equals(content)).toBe(true);
    expect((await readFile(join(root, "copy/a"))).equals(bytesOf(MEDIUM, 3))).toBe(true);
    expect(await readFile(join(root, "copy/small"), "utf8")).toBe("small");
    expect((await readdir(join(root, "copy"))).sort()).toEqual(["a", "b", "c", "inner", "small"]);
  });

  it("stays as it is when another program writes to the original, and the other way round", async () => {
    await putFile("file", bytesOf(MEDIUM, 4));
    await storage.copy("/file", "/copy");
    for (const [written, other] of [
      ["file", "copy"],
      ["copy", "file"],
    ] as const) {
      const before = await readFile(join(root, other));
      const file = await open(join(root, written), "r+");
      await file.write(Buffer.from(written), 0, written.length, 5000);
      await file.close();
      expect((await readFile(join(root, other))).equals(before)).toBe(true);
      expect((await readFile(join(root, written))).toString("latin1", 5000, 5004)).toBe(written);
    }
  });

  it("has never the permissions of the original, which may be those to run as the owner", async () => {
    await putFile("file", bytesOf(MEDIUM, 5), 0o4777);
    const seen: (readonly [folder: number, clone: number])[] = [];
    const { copyFile: cloneFile } = fs.promises;
    vi.spyOn(fs.promises, "copyFile").mockImplementation(async (from, to, flags) => {
      await cloneFile(from, to, flags);
      const [name = ""] = await unfinished();
      seen.push([await modeOf(name), await modeOf(join(name, "clone"))]);
    });
    syncBuiltinESMExports();
    await storage.copy("/file", "/copy");
    // While it has them, no other user can enter its folder.
    expect(seen).toEqual([[0o700, 0o4777]]);
    expect(await modeOf("copy")).toBe(ownMode());
  });

  it.skipIf(!isRoot)("has the permissions and the owner of the file that it replaces", async () => {
    await putFile("file", bytesOf(MEDIUM, 6), 0o755);
    await putFile("copy", bytesOf(10, 7), 0o640);
    await chown(join(root, "copy"), 1234, 4321);
    const clones = watchClones();
    expect(await storage.copy("/file", "/copy", { replace: true })).toBe("replaced");
    expect(clones).toHaveBeenCalledOnce();
    const { uid, gid } = await lstat(join(root, "copy"));
    expect([uid, gid, await modeOf("copy")]).toEqual([1234, 4321, 0o640]);
    expect((await readFile(join(root, "copy"))).equals(bytesOf(MEDIUM, 6))).toBe(true);
  });

  it("is not made of another version than the one that is asked for", async () => {
    await putFile("file", bytesOf(MEDIUM, 8));
    const etag = (await storage.stat("/file"))?.etag ?? "";
    let isWritten = false;
    const onRead = () => {
      isWritten = true;
      fs.writeFileSync(join(root, "file"), bytesOf(MEDIUM + 1, 9));
    };
    const copying = storage.copy("/file", "/copy", { ifMatch: [etag], onRead });
    await expect(copying).rejects.toMatchObject({ code: "precondition-failed" });
    expect([isWritten, await readdir(root)]).toEqual([true, ["file"]]);
  });

  it.each([
    ["fails", () => Promise.reject(Object.assign(new Error("EIO"), { code: "EIO", errno: -5 }))],
    ["has taken what another program wrote meanwhile", async () => putFile("file", bytesOf(2 * MEDIUM, 11))],
  ])("is read and written if the clone %s", async (_what, act) => {
    await putFile("file", bytesOf(MEDIUM, 10));
    const { copyFile: cloneFile } = fs.promises;
    const clones = vi.spyOn(fs.promises, "copyFile").mockImplementation(async (...args) => {
      await act();
      await cloneFile(...args);
    });
    syncBuiltinESMExports();
    expect(await storage.copy("/file", "/copy")).toBe("created");
    expect(clones).toHaveBeenCalledOnce();
    expect((await readFile(join(root, "copy"))).equals(await readFile(join(root, "file")))).toBe(true);
    expect(await modeOf("copy")).toBe(ownMode());
    expect(await unfinished()).toEqual([]);
  });

  it("leaves nothing behind if it is aborted while the clone is made", async () => {
    await putFile("file", bytesOf(MEDIUM, 12));
    const controller = new AbortController();
    const { copyFile: cloneFile } = fs.promises;
    vi.spyOn(fs.promises, "copyFile").mockImplementation(async (...args) => {
      await cloneFile(...args);
      controller.abort();
    });
    syncBuiltinESMExports();
    const copying = storage.copy("/file", "/copy", { signal: controller.signal });
    await expect(copying).rejects.toMatchObject({ name: "AbortError" });
    expect(await readdir(root)).toEqual(["file"]);
  });

  it("is not cloned if it is small", async () => {
    await putFile("file", bytesOf(65_536, 13));
    const clones = watchClones();
    await storage.copy("/file", "/copy");
    expect(clones).not.toHaveBeenCalled();
  });
});

describe("a copy on a file system whose files cannot share blocks", () => {
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "fileferry-clones-"));
  });

  /** Whether the file system of temporary files can. */
  async function canClone(): Promise<boolean> {
    await putFile("probe", bytesOf(10, 1));
    const flags = fs.constants.COPYFILE_FICLONE_FORCE;
    return copyFile(join(root, "probe"), join(root, "cloned"), flags).then(
      () => true,
      () => false,
    );
  }

  it("is read and written, after one clone was tried, and leaves nothing behind", async ({ skip }) => {
    if (await canClone()) skip("files share blocks here");
    const storage = createDiskStorage({ root });
    const content = bytesOf(MEDIUM, 14);
    await putFile("file", content, 0o755);
    const clones = watchClones();
    for (const name of ["first", "second", "third"]) {
      await storage.copy("/file", `/${name}`);
      expect((await readFile(join(root, name))).equals(content)).toBe(true);
      expect(await modeOf(name)).toBe(ownMode());
    }
    expect(clones).toHaveBeenCalledTimes(process.platform === "linux" ? 1 : 0);
    expect(await unfinished()).toEqual([]);
  });
});
