import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import {
  chmod,
  chown,
  mkdir,
  mkdtemp,
  readdir,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { StorageAdapter } from "../../../src/contracts/storage-adapter.ts";
import { createDiskStorage } from "../../../src/storage/disk.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { mountStorage } from "../../../src/storage/mount.ts";
import { rejectionOf } from "../../../src/testing/expectations.ts";
import {
  bodyBytes,
  cutOff,
  inChunks,
  namesIn,
  noise,
  put,
  readFileText,
} from "../../../src/testing/storage/content.ts";
import { outputOf, prepareDiskProcesses, startDiskProcess } from "./process.ts";

const isRoot = process.getuid?.() === 0;
let root: string;
let storage: StorageAdapter;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "fileferry-files-"));
  storage = createDiskStorage({ root, durability: "rename" });
});

afterEach(() => rm(root, { recursive: true }));

describe("createDiskStorage", () => {
  it.each([
    ["root", { root: "" }],
    ["root", { root: 5 }],
    ["root", { root: "/missing/folder" }],
    ["root", { root: "/etc/passwd" }],
    ["durability", { root: "/tmp", durability: "none" }],
    ["links", { root: "/tmp", links: "all" }],
  ])("names the wrong option: %s of %j", (name, options) => {
    expect(() => createDiskStorage(options as never)).toThrowError(new RegExp(`^The option ${name} `));
    expect(() => createDiskStorage(options as never)).toThrow(TypeError);
  });

  it("says that a root is missing, or is no folder", () => {
    expect(() => createDiskStorage({ root: "/missing/folder" })).toThrow(
      "The option root must be the path of a folder: /missing/folder does not exist.",
    );
    expect(() => createDiskStorage({ root: "/etc/passwd" })).toThrow(
      "The option root must be the path of a folder: /etc/passwd is not a folder.",
    );
  });

  it("makes a storage that is unavailable, not empty, once the root is gone", async () => {
    await rm(root, { recursive: true });
    await expect(storage.stat("/")).rejects.toMatchObject({ code: "unavailable" });
    await expect(storage.stat("/a/b")).rejects.toMatchObject({ code: "unavailable" });
    await expect(put(storage, "/file", "x")).rejects.toMatchObject({ code: "unavailable" });
    await mkdir(root);
    expect(await namesIn(storage, "/")).toEqual([]);
  });
});

describe("pipes, sockets and devices", () => {
  const kinds: [string, (file: string) => Promise<unknown>][] = [
    ["a pipe", async (file) => execFileSync("mkfifo", [file])],
    ["a socket", async (file) => once(createServer().listen(file).unref(), "listening")],
  ];
  if (isRoot) kinds.push(["a device", async (file) => execFileSync("mknod", [file, "c", "1", "5"])]);

  it.each(kinds)("%s is not there for readers, is replaced by a write and goes with its folder", async (_, make) => {
    await mkdir(join(root, "folder"));
    await make(join(root, "folder/special"));
    expect(await namesIn(storage, "/folder")).toEqual([]);
    expect(await storage.stat("/folder/special")).toBeUndefined();
    await expect(storage.read("/folder/special")).rejects.toMatchObject({ code: "not-found" });
    await expect(storage.remove("/folder/special")).rejects.toMatchObject({ code: "not-found" });
    await expect(storage.createFolder("/folder/special")).rejects.toMatchObject({ code: "already-exists" });
    await expect(put(storage, "/folder/special/x", "x")).rejects.toMatchObject({ code: "not-a-folder" });
    await put(storage, "/folder/special", "text", { ifNoneMatch: "*" });
    expect(await readFileText(storage, "/folder/special")).toBe("text");
    await storage.remove("/folder/special");
    await make(join(root, "folder/special"));
    await storage.remove("/folder");
    expect(await readdir(root)).toEqual([]);
  });
});

describe("names that are not UTF-8", () => {
  it("are not listed, and go with their folder", async () => {
    await mkdir(join(root, "folder"));
    for (const bytes of ["file\xff", "\xfe", "caf\xe9"]) {
      writeFileSync(Buffer.concat([Buffer.from(`${root}/folder/`), Buffer.from(bytes, "latin1")]), "x");
    }
    mkdirSync(Buffer.concat([Buffer.from(`${root}/folder/`), Buffer.from("deep\xff", "latin1")]));
    await writeFile(join(root, "folder/file\ufffd"), "a true name");
    expect(await namesIn(storage, "/folder")).toEqual(["file\ufffd"]);
    expect(await readFileText(storage, "/folder/file\ufffd")).toBe("a true name");
    await storage.remove("/folder");
    expect(await readdir(root)).toEqual([]);
  });

  it("stay with the folders around them in a move to another storage, and nothing else does", async () => {
    const hidden = Buffer.from(`${root}/folder/deep/caf\xe9`, "latin1");
    await mkdir(join(root, "folder/deep"), { recursive: true });
    await mkdir(join(root, "folder/other"));
    writeFileSync(hidden, "kept");
    for (const path of ["/folder/1", "/folder/deep/2", "/folder/other/3"]) await put(storage, path, path);
    await symlink(join(root, "folder"), join(root, "folder/other/link"));
    const tree = mountStorage({ "/": storage, "/other": createMemoryStorage() });
    expect(await tree.move("/folder", "/other/moved")).toBe("created");
    expect(await readFileText(tree, "/other/moved/deep/2")).toBe("/folder/deep/2");
    expect(await namesIn(tree, "/other/moved")).toEqual(["1", "deep", "other"]);
    expect(await namesIn(storage, "/folder")).toEqual(["deep"]);
    expect(await namesIn(storage, "/folder/deep")).toEqual([]);
    expect(readFileSync(hidden, "utf8")).toBe("kept");
  });
});

describe("an overwritten file", () => {
  it("keeps its permissions, and a new one has the usual", async () => {
    const usual = 0o666 & ~process.umask();
    await put(storage, "/file", "first");
    expect((await stat(join(root, "file"))).mode & 0o7777).toBe(usual);
    for (const mode of [0o600, 0o644, 0o664, 0o755, 0o400]) {
      await chmod(join(root, "file"), mode);
      await put(storage, "/file", "next");
      expect((await stat(join(root, "file"))).mode & 0o7777).toBe(mode);
    }
    await chmod(join(root, "file"), 0o4755);
    await put(storage, "/file", "next");
    expect((await stat(join(root, "file"))).mode & 0o7777).toBe(0o755);
  });

  it.skipIf(!isRoot)("keeps its owner where the process may give files away (skipped unless root)", async () => {
    await put(storage, "/file", "first");
    await chown(join(root, "file"), 12_345, 54_321);
    await put(storage, "/file", "next");
    expect(await stat(join(root, "file"))).toMatchObject({ uid: 12_345, gid: 54_321 });
  });

  it("has another entity-tag when it was changed in place too", async () => {
    const { etag } = await put(storage, "/file", "first");
    await writeFile(join(root, "file"), "other");
    await utimes(join(root, "file"), 1, 1);
    expect((await storage.stat("/file"))?.etag).not.toBe(etag);
    await expect(put(storage, "/file", "x", { ifMatch: [etag ?? ""] })).rejects.toMatchObject({
      code: "precondition-failed",
    });
  });
});

describe("a file that is cut short while it is read", () => {
  it("makes the body fail, never end early", async () => {
    await storage.write("/file", inChunks(noise(3_000_000, 1), 500_000));
    const { entry, body } = await storage.read("/file");
    const reader = body.getReader();
    await reader.read();
    await truncate(join(root, "file"), 1_000_000);
    reader.releaseLock();
    expect(entry.size).toBe(3_000_000);
    await expect(bodyBytes(body)).rejects.toMatchObject({ code: "unavailable" });
    expect(openDescriptors()).toEqual([]);
  });
});

describe("descriptors", () => {
  it("are all closed after 200 transfers that failed or were cancelled, and as many that did not", async () => {
    await storage.createFolder("/folder");
    await storage.write("/folder/file", inChunks(noise(1_000_000, 1), 500_000));
    for (let round = 0; round < 200; round += 1) {
      const { body } = await storage.read("/folder/file");
      const reader = body.getReader();
      const pending = round % 2 === 0 ? reader.read() : undefined;
      await reader.cancel();
      await pending;
      await rejectionOf(storage.write("/folder/file", cutOff(new Error("cut"), "text")));
      await rejectionOf(storage.write("/folder/new", cutOff(new Error("cut"), "text"), { size: 3 }));
      await rejectionOf(storage.read("/folder"));
      await rejectionOf(storage.read("/folder/missing"));
      await rejectionOf(storage.createFolder("/folder/file/x"));
      await bodyBytes((await storage.read("/folder/file", { offset: round, length: 10 })).body);
      for await (const _ of storage.list("/folder")) break;
    }
    // The last descriptor may be closed a moment later.
    await expect.poll(openDescriptors).toEqual([]);
  });
});

describe("trees that are deeper than a process may hold descriptors", () => {
  let program: string;

  beforeAll(async () => {
    program = await prepareDiskProcesses();
  });

  afterAll(() => rm(program, { recursive: true }));

  it("of 2,000 levels are read, written and removed with 64 descriptors", async () => {
    const text = `
      import { mkdirSync } from "node:fs";
      process.chdir(root);
      for (let level = 0; level < 2000; level += 1) {
        mkdirSync("d");
        process.chdir("d");
      }
      const storage = createDiskStorage({ root, durability: "rename" });
      const path = "/d".repeat(2000);
      await storage.write(path + "/file", (async function* () { yield new Uint8Array(3) })());
      const sizes = [(await storage.stat(path + "/file")).size];
      for await (const { size } of storage.list(path)) sizes.push(size);
      await storage.remove("/d");
      console.log(JSON.stringify([sizes, await storage.stat("/d")]));
    `;
    const output = await outputOf(startDiskProcess(program, root, text, { descriptors: 64 }));
    expect(JSON.parse(output)).toEqual([[3, 3], null]);
  });

  it("answer unavailable, and work again, when the process has no descriptors left", async () => {
    const text = `
      import { openSync, closeSync } from "node:fs";
      const storage = createDiskStorage({ root, durability: "rename" });
      const open = [];
      await storage.createFolder("/folder");
      try { for (;;) open.push(openSync("/dev/null")); } catch {}
      const code = (promise) => promise.then(() => "done", (error) => error.code);
      const content = async function* () { yield new Uint8Array(3) };
      const calls = () => Promise.all([
        code(storage.stat("/folder")),
        code(storage.write("/folder/file", content())),
        code(storage.createFolder("/folder/new")),
        code(storage.list("/folder").next()),
      ]);
      const refused = await calls();
      for (const descriptor of open) closeSync(descriptor);
      console.log(JSON.stringify([refused, await calls()]));
    `;
    const output = await outputOf(startDiskProcess(program, root, text, { descriptors: 64 }));
    expect(JSON.parse(output)).toEqual([Array(4).fill("unavailable"), Array(4).fill("done")]);
  });
});

/** Descriptors of this process that are open on something below the root. */
function openDescriptors(): string[] {
  return readdirSync("/proc/self/fd").flatMap((descriptor) => {
    try {
      const path = readlinkSync(`/proc/self/fd/${descriptor}`);
      return path.startsWith(root) ? [path] : [];
    } catch {
      // Closed meanwhile.
      return [];
    }
  });
}

describe("a folder made for an owner", () => {
  it.skipIf(!isRoot)(
    "is there with its owner or not at all, for one of several makers (skipped unless root)",
    async () => {
      const owner = { user: "12345", group: "54321" };
      const makers = Array.from({ length: 20 }, () => storage.createFolder("/home", { owner }));
      const seen: unknown[] = [];
      const made = Promise.allSettled(makers);
      for (let look = 0; look < 50; look += 1) {
        const found = await stat(join(root, "home")).catch(() => undefined);
        if (found !== undefined) seen.push(found.uid);
      }
      const outcomes = await made;
      expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      expect(new Set([...seen, (await stat(join(root, "home"))).uid])).toEqual(new Set([12_345]));
      expect(await readdir(root)).toEqual(["home"]);
    },
  );
});
