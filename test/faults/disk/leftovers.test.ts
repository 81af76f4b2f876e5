import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { link, mkdir, mkdtemp, readdir, readFile, rm, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createDiskStorage } from "../../../src/storage/disk.ts";
import { rejectionOf } from "../../../src/testing/expectations.ts";
import { cutOff, namesIn, put, readFileText, stalled, textChunks } from "../../../src/testing/storage/content.ts";
import { outputOf, prepareDiskProcesses, startDiskProcess } from "./process.ts";

const OTHERS = ".fileferry-0123abcd-1-0123456789abcdef01234567.tmp";
const WRITING = `
  const storage = createDiskStorage({ root });
  async function* content() {
    yield new Uint8Array(300_000);
    console.log("midway");
    await new Promise((resolve) => setTimeout(resolve, 60_000));
  }
  await storage.write("/folder/file", content());
`;

let program: string;
let root: string;
let children: ChildProcess[] = [];

beforeAll(async () => {
  program = await prepareDiskProcesses();
});

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "fileferry-leftovers-"));
  await mkdir(join(root, "folder"));
});

afterEach(async () => {
  for (const child of children) child.kill("SIGKILL");
  children = [];
  await rm(root, { recursive: true });
});

afterAll(() => rm(program, { recursive: true }));

describe("a write that fails on disk", () => {
  it("leaves no temporary file, whatever ended it", async () => {
    const storage = createDiskStorage({ root, durability: "rename" });
    const controller = new AbortController();
    const content = stalled(() => controller.abort(), "text");
    const failures = [
      storage.write("/file", cutOff(new Error("cut"), "text")),
      storage.write("/file", textChunks("12345"), { size: 4 }),
      storage.write("/file", textChunks("123"), { size: 4 }),
      storage.write("/file", textChunks("x"), { ifMatch: "*" }),
      storage.write("/file", content, { signal: controller.signal }),
    ];
    await Promise.all(failures.map(rejectionOf));
    expect(await readdir(root)).toEqual(["folder"]);
  });

  it("leaves no temporary file when conditions fail at the exchange, or it becomes a folder meanwhile", async () => {
    const storage = createDiskStorage({ root, durability: "rename" });
    async function* during(action: () => Promise<unknown>): AsyncGenerator<Uint8Array> {
      yield* textChunks("text");
      await action();
    }
    await rejectionOf(
      storage.write(
        "/one",
        during(() => put(storage, "/one", "x")),
        { ifNoneMatch: "*" },
      ),
    );
    await expect(
      storage.write(
        "/two",
        during(() => storage.createFolder("/two")),
      ),
    ).rejects.toMatchObject({
      code: "not-a-file",
    });
    expect((await readdir(root)).sort()).toEqual(["folder", "one", "two"]);
  });
});

describe("the names of temporary files", () => {
  it("are reserved: such a member exists for no verb, and cannot be made", async () => {
    const storage = createDiskStorage({ root });
    const text = cutOff(new Error("was touched"));
    for (const name of [OTHERS, ".fileferry-.tmp", ".FileFerry-Anything.TMP", ".fileferry-line\nbreak.tmp"]) {
      await writeFile(join(root, name), "hidden");
      expect(await namesIn(storage, "/")).toEqual(["folder"]);
      expect(await storage.stat(`/${name}`)).toBeUndefined();
      await expect(storage.read(`/${name}`)).rejects.toMatchObject({ code: "not-found" });
      await expect(storage.remove(`/${name}`)).rejects.toMatchObject({ code: "not-found" });
      await expect(storage.write(`/${name}`, text)).rejects.toMatchObject({ code: "bad-name" });
      await expect(storage.createFolder(`/${name}`)).rejects.toMatchObject({ code: "bad-name" });
      await expect(storage.write(`/${name}/below`, text)).rejects.toMatchObject({ code: "parent-missing" });
      expect(await readFile(join(root, name), "utf8")).toBe("hidden");
      await rm(join(root, name));
    }
  });

  it("do not keep a folder from being removed", async () => {
    const storage = createDiskStorage({ root });
    await writeFile(join(root, "folder", OTHERS), "hidden");
    await storage.remove("/folder");
    expect(await readdir(root)).toEqual([]);
  });
});

describe("a process killed midway in a write", () => {
  it("leaves the former file, and the next process removes what it left", async () => {
    await writeFile(join(root, "folder/file"), "former");
    const killed = await startMidway();
    expect((await readdir(join(root, "folder"))).length).toBe(2);
    killed.kill("SIGKILL");
    await once(killed, "close");
    expect(await readFile(join(root, "folder/file"), "utf8")).toBe("former");

    const idle = `import { createServer } from "node:net"; createDiskStorage({ root }); createServer().listen(0);`;
    children.push(startDiskProcess(program, root, idle));
    await expect.poll(() => readdir(join(root, "folder")), { timeout: 10_000 }).toEqual(["file"]);
  });

  it("leaves nothing that a storage which runs already does not remove when it lists the folder", async () => {
    const storage = createDiskStorage({ root });
    const killed = await startMidway();
    killed.kill("SIGKILL");
    await once(killed, "close");
    expect(await namesIn(storage, "/folder")).toEqual([]);
    expect(await readdir(join(root, "folder"))).toEqual([]);
  });
});

describe("the sweep", () => {
  it("leaves the temporary file of another process that is running", async () => {
    const other = await startMidway();
    const storage = createDiskStorage({ root });
    expect(await namesIn(storage, "/folder")).toEqual([]);
    await settle();
    expect((await readdir(join(root, "folder"))).length).toBe(1);
    other.kill("SIGKILL");
    await once(other, "close");
  });

  it("leaves those that this process is writing, also for another storage of one root", async () => {
    const storage = createDiskStorage({ root });
    async function* content(): AsyncGenerator<Uint8Array> {
      yield* textChunks("some ");
      expect(await namesIn(createDiskStorage({ root }), "/folder")).toEqual([]);
      await settle();
      yield* textChunks("text");
    }
    await storage.write("/folder/file", content());
    expect(await readFileText(storage, "/folder/file")).toBe("some text");
  });

  it("leaves those of other machines for an hour since they were last written to", async () => {
    const [young, old] = [join(root, OTHERS), join(root, "folder", OTHERS)];
    for (const file of [young, old]) await writeFile(file, "x");
    await setAge(young, 3_500);
    await setAge(old, 3_700);
    createDiskStorage({ root });
    await expect.poll(() => readdir(join(root, "folder"))).toEqual([]);
    await settle();
    expect((await readdir(root)).sort()).toEqual([OTHERS, "folder"]);
  });

  it("leaves whatever is no leftover by its name, and never follows a link", async () => {
    const outside = await mkdtemp(join(tmpdir(), "fileferry-outside-"));
    const names = [".fileferry-mine.tmp", "notes.tmp", `${OTHERS}.bak`];
    for (const name of names) {
      await writeFile(join(root, name), "x");
      await setAge(join(root, name), 10_000);
    }
    await writeFile(join(outside, OTHERS), "x");
    await setAge(join(outside, OTHERS), 10_000);
    await symlink(outside, join(root, "link"));
    await link(join(outside, OTHERS), join(root, "folder", OTHERS));
    createDiskStorage({ root });
    await expect.poll(() => readdir(join(root, "folder"))).toEqual([]);
    await settle();
    expect((await readdir(root)).sort()).toEqual([...names, "folder", "link"].sort());
    expect(await readdir(outside)).toEqual([OTHERS]);
    await rm(outside, { recursive: true });
  });

  it("does not keep a process alive", async () => {
    const files = Array.from({ length: 500 }, (_, number) => join(root, "folder", `${number}`, OTHERS));
    for (const file of files) {
      await mkdir(dirname(file));
      await writeFile(file, "x");
      await setAge(file, 10_000);
    }
    await outputOf(startDiskProcess(program, root, "createDiskStorage({ root });"));
    expect(files.some(existsSync)).toBe(true);
  });
});

async function startMidway(): Promise<ChildProcess> {
  const child = startDiskProcess(program, root, WRITING);
  children.push(child);
  await once(child.stdout ?? child, "data");
  return child;
}

async function setAge(file: string, seconds: number): Promise<void> {
  const time = Date.now() / 1000 - seconds;
  await utimes(file, time, time);
}

/** Long enough for a sweep of these few folders. */
function settle(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 50));
}
