import { type ChildProcess, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import {
  chmod,
  link,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { createDiskStorage } from "../../../src/storage/disk.ts";
import { rejectionOf } from "../../../src/testing/expectations.ts";
import { cutOff, namesIn, put, readFileText, stalled, textChunks } from "../../../src/testing/storage/content.ts";
import { appendText, beginUpload, offsetOf } from "../../../src/testing/uploads/setup.ts";
import { type DiskProcessOptions, outputOf, prepareDiskProcesses, startDiskProcess } from "./process.ts";

const OTHERS = ".fileferry-0123abcd-1-42-0123456789abcdef01234567.tmp";
const WRITING = `
  const storage = createDiskStorage({ root });
  async function* content() {
    yield new Uint8Array(300_000);
    console.log("midway");
    await new Promise((resolve) => {
      setTimeout(resolve, 60_000);
      process.once("SIGUSR2", resolve);
    });
  }
  await storage.write("/folder/file", content());
  process.exit();
`;
const isLinux = process.platform === "linux";
/** Runs a command in a PID namespace of its own, as a container does. */
const IN_NAMESPACE = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"];
const hasNamespaces = isLinux && spawnSync("unshare", [...IN_NAMESPACE.slice(1), "true"]).status === 0;

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
  vi.restoreAllMocks();
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

describe("the bytes of an upload whose folder is moved", () => {
  it("are removed, and those of other uploads stay", async () => {
    const storage = createDiskStorage({ root });
    await storage.createFolder("/folder/below");
    const beside = await beginUpload(storage, "/file");
    for (const path of ["/folder/file", "/folder/below/file"]) {
      const { key } = await beginUpload(storage, path);
      await appendText(storage, key, 0, "abc");
    }
    await storage.move("/folder", "/elsewhere");
    const there = await beginUpload(storage, "/elsewhere/file");
    const names = async () => (await readdir(root, { recursive: true })).filter((name) => name.includes("-upload-"));
    await expect.poll(names).toHaveLength(2);
    for (const { key } of [beside, there]) expect(await offsetOf(storage, key)).toBe(0);
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

describe("the clean-up", () => {
  it("leaves the temporary file of another process that is running", async () => {
    const other = await startMidway();
    const storage = createDiskStorage({ root });
    expect(await namesIn(storage, "/folder")).toEqual([]);
    await settle();
    expect((await readdir(join(root, "folder"))).length).toBe(1);
    other.kill("SIGKILL");
    await once(other, "close");
  });

  it("leaves that of a running process however old it is, and the process completes its file", async () => {
    const other = await startMidway();
    setClockAhead(1_000_000);
    const storage = createDiskStorage({ root });
    expect(await namesIn(storage, "/folder")).toEqual([]);
    await settle();
    other.kill("SIGUSR2");
    expect(await once(other, "close")).toEqual([0, null]);
    expect(await readdir(join(root, "folder"))).toEqual(["file"]);
  });

  it.skipIf(!isLinux)("removes that of a process whose ID another one has now (skipped unless Linux)", async () => {
    await startMidway();
    const file = await temporaryFile();
    const earlier = file.replace(/-(\d+)(-[0-9a-f]+\.tmp)$/, (_, start, rest) => `-${Number(start) - 1}${rest}`);
    await rename(file, earlier);
    expect(earlier).not.toBe(file);
    await namesIn(createDiskStorage({ root }), "/folder");
    expect(await readdir(join(root, "folder"))).toEqual([]);
  });

  it.skipIf(!isLinux)(
    "removes that of a process that has ended, but that its parent does not wait for (skipped unless Linux)",
    async () => {
      // The shell becomes a program that does not wait for the writer.
      const parent = await startMidway({ under: ["sh", "-c", '"$@" & exec sleep 60', "sh"] });
      const [, , id] = basename(await temporaryFile()).split("-");
      process.kill(Number(id), "SIGKILL");
      const state = async () => /\) (\S)/.exec(await readFile(`/proc/${id}/stat`, "utf8"))?.[1];
      await expect.poll(state).toBe("Z");
      await namesIn(createDiskStorage({ root }), "/folder");
      expect(await readdir(join(root, "folder"))).toEqual([]);
      expect(parent.exitCode).toBeNull();
    },
  );

  it.skipIf(!hasNamespaces)(
    "leaves for an hour that of a process in another container (skipped where unshare may not make namespaces)",
    async () => {
      await startMidway({ under: IN_NAMESPACE });
      const storage = createDiskStorage({ root });
      expect(await namesIn(storage, "/folder")).toEqual([]);
      const file = await temporaryFile();
      setClockAhead(3_700);
      expect(await namesIn(storage, "/folder")).toEqual([]);
      expect(existsSync(file)).toBe(false);
    },
  );

  it.skipIf(!hasNamespaces)(
    "leaves for an hour that of a process outside its container (skipped where unshare may not make namespaces)",
    async () => {
      await startMidway();
      const listing = `for await (const _ of createDiskStorage({ root }).list("/folder"));`;
      await outputOf(startDiskProcess(program, root, listing, { under: IN_NAMESPACE }));
      expect(existsSync(await temporaryFile())).toBe(true);
    },
  );

  it.skipIf(!hasNamespaces)(
    "leaves that of a running process that the system hides (skipped where unshare may not make namespaces)",
    async () => {
      await startMidway();
      for (const folder of [root, join(root, "folder")]) await chmod(folder, 0o777);
      const listing = `
        import { existsSync } from "node:fs";
        ${clockAhead(1_000_000)}
        for await (const _ of createDiskStorage({ root }).list("/folder"));
        console.log(existsSync("/proc/1"));
      `;
      const hidden =
        "mount -t proc -o hidepid=invisible proc /proc && exec setpriv --reuid=65534 --regid=65534 --clear-groups";
      const under = ["unshare", "--mount", "sh", "-c", `${hidden} "$@"`, "sh"];
      expect(await outputOf(startDiskProcess(program, root, listing, { under }))).toBe("false\n");
      expect(existsSync(await temporaryFile())).toBe(true);
    },
  );

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
    await writeFile(join(root, OTHERS), "x");
    const storage = createDiskStorage({ root });
    setClockAhead(3_500);
    expect(await namesIn(storage, "/")).toEqual(["folder"]);
    createDiskStorage({ root });
    await settle();
    expect((await readdir(root)).sort()).toEqual([OTHERS, "folder"]);
    setClockAhead(3_700);
    createDiskStorage({ root });
    await expect.poll(() => readdir(root)).toEqual(["folder"]);
  });

  it("leaves a file of another machine that has just been finished with an old time", async () => {
    const file = join(root, OTHERS);
    await writeFile(file, "x");
    await utimes(file, 1_000_000_000, 1_000_000_000);
    expect(await namesIn(createDiskStorage({ root }), "/")).toEqual(["folder"]);
    await settle();
    expect(existsSync(file)).toBe(true);
  });

  it("leaves whatever is no leftover by its name, and never follows a link", async () => {
    const outside = await mkdtemp(join(tmpdir(), "fileferry-outside-"));
    const names = [".fileferry-mine.tmp", "notes.tmp", `${OTHERS}.bak`, ".fileferry-upload-notes.txt"];
    for (const name of names) await writeFile(join(root, name), "x");
    await writeFile(join(outside, OTHERS), "x");
    await symlink(outside, join(root, "link"));
    await link(join(outside, OTHERS), join(root, "folder", OTHERS));
    setClockAhead(10_000);
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
    }
    await outputOf(startDiskProcess(program, root, `${clockAhead(10_000)} createDiskStorage({ root });`));
    expect(files.some(existsSync)).toBe(true);
  });
});

async function startMidway(options: DiskProcessOptions = {}): Promise<ChildProcess> {
  const child = startDiskProcess(program, root, WRITING, options);
  children.push(child);
  await once(child.stdout ?? child, "data");
  return child;
}

/** The only member of the folder that is written to. */
async function temporaryFile(): Promise<string> {
  const names = await readdir(join(root, "folder"));
  expect(names).toEqual([expect.stringMatching(/^\.fileferry-.*\.tmp$/)]);
  return join(root, "folder", names[0] ?? "");
}

/** Lets files get older, by seconds. Their times cannot be set: the system keeps the one of the last change. */
function setClockAhead(seconds: number): void {
  const time = performance.timeOrigin + performance.now() + seconds * 1000;
  vi.spyOn(Date, "now").mockReturnValue(time);
}

/** The same for a process: a statement of its program. */
function clockAhead(seconds: number): string {
  return `{ const { now } = Date; Date.now = () => now() + ${seconds * 1000}; }`;
}

/** Long enough for a clean-up of these few folders. */
function settle(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 50));
}
