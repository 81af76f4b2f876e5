import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isStorageError, type StorageAdapter } from "../../../src/contracts/storage-adapter.ts";
import { createDiskStorage } from "../../../src/storage/disk.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { mountStorage } from "../../../src/storage/mount.ts";
import { namesIn, put, readFileText } from "../../../src/testing/storage/content.ts";
import { amount, reportFigure } from "../../support/trust.ts";

/** How long each is tried. */
const SWAPPING_SECONDS = amount({ short: 1.5, long: 60 });

let base: string;
let root: string;
let outside: string;

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "fileferry-links-"));
  root = join(base, "root");
  outside = join(base, "outside");
  await mkdir(join(root, "folder/deep"), { recursive: true });
  await mkdir(join(outside, "deep"), { recursive: true });
  await writeFile(join(root, "folder/file"), "inside");
  await writeFile(join(root, "folder/deep/file"), "inside");
  await writeFile(join(outside, "file"), "from outside");
  await writeFile(join(outside, "deep/file"), "from outside");
});

afterEach(() => rm(base, { recursive: true }));

describe('links: "hidden"', () => {
  it("follows none, also of those whose target is inside", async () => {
    const storage = createDiskStorage({ root });
    await symlink("folder", join(root, "to-folder"));
    await symlink("folder/file", join(root, "to-file"));
    expect((await storage.stat("/to-folder"))?.kind).toBe("link");
    expect((await storage.stat("/to-file"))?.kind).toBe("link");
    expect(await storage.stat("/to-folder/file")).toBeUndefined();
    await expect(storage.read("/to-file")).rejects.toMatchObject({ code: "not-found" });
    await expect(put(storage, "/to-folder/new", "x")).rejects.toMatchObject({ code: "not-a-folder" });
  });

  it("follows those on the way to the root itself, which are the operator's", async () => {
    await symlink(root, join(base, "to-root"));
    const storage = createDiskStorage({ root: join(base, "to-root") });
    expect(await readFileText(storage, "/folder/deep/file")).toBe("inside");
    await put(storage, "/folder/new", "new");
    expect(await readFile(join(root, "folder/new"), "utf8")).toBe("new");
  });
});

describe('links: "inside"', () => {
  let storage: StorageAdapter;

  beforeEach(() => {
    storage = createDiskStorage({ root, links: "inside" });
  });

  it("follows links to files and folders inside, relative and absolute, on the way and at the end", async () => {
    await symlink("folder", join(root, "relative"));
    await symlink(join(root, "folder/deep"), join(root, "absolute"));
    await symlink("../folder/file", join(root, "folder/up"));
    expect(await storage.stat("/relative")).toMatchObject({ name: "relative", kind: "folder" });
    expect(await storage.stat("/relative/up")).toMatchObject({ name: "up", kind: "file", size: 6 });
    expect(await namesIn(storage, "/relative")).toEqual(["deep", "file", "up"]);
    expect(await readFileText(storage, "/relative/deep/file")).toBe("inside");
    const { entry, body } = await storage.read("/relative/up");
    await body.cancel();
    expect(entry.name).toBe("up");
    expect(await namesIn(storage, "/absolute")).toEqual(["file"]);
    const kinds = new Map<string, string>();
    for await (const { name, kind } of storage.list("/")) kinds.set(name, kind);
    expect(Object.fromEntries(kinds)).toEqual({ absolute: "folder", folder: "folder", relative: "folder" });
  });

  it("says of a link itself that it is followed, in stat as in a listing, and not of what is below it", async () => {
    await symlink("folder", join(root, "to-folder"));
    await symlink("deep/file", join(root, "folder/to-file"));
    const followed: string[] = [];
    for (const path of ["/folder", "/to-folder", "/to-folder/deep", "/to-folder/to-file", "/folder/to-file"]) {
      if ((await storage.stat(path))?.isFollowed) followed.push(path);
    }
    expect(followed).toEqual(["/to-folder", "/to-folder/to-file", "/folder/to-file"]);
    for await (const entry of storage.list("/")) expect(await storage.stat(`/${entry.name}`)).toEqual(entry);
  });

  it("a move to another storage takes what links lead to along, and removes only the links", async () => {
    await symlink("folder", join(root, "to-folder"));
    await mkdir(join(root, "from"));
    for (const name of ["folder", "folder/file"]) await symlink(`../${name}`, join(root, "from", name.slice(-4)));
    const tree = mountStorage({ "/": storage, "/other": createMemoryStorage() });
    await tree.move("/to-folder", "/other/moved");
    await tree.move("/from", "/other/from");
    expect(await namesIn(tree, "/other/moved")).toEqual(["deep", "file"]);
    expect(await namesIn(tree, "/other/from")).toEqual(["file", "lder"]);
    expect(await readFileText(tree, "/other/from/lder/deep/file")).toBe("inside");
    expect(await readdir(root)).toEqual(["folder"]);
    expect((await readdir(join(root, "folder"))).sort()).toEqual(["deep", "file"]);
    expect(await readdir(join(root, "folder/deep"))).toEqual(["file"]);
  });

  it("writes, makes and removes members of a folder behind a link, but replaces and removes links themselves", async () => {
    await symlink("folder", join(root, "to-folder"));
    await symlink("folder/file", join(root, "to-file"));
    await put(storage, "/to-folder/new", "new");
    await storage.createFolder("/to-folder/made");
    await storage.remove("/to-folder/deep");
    expect((await readdir(join(root, "folder"))).sort()).toEqual(["file", "made", "new"]);
    await put(storage, "/to-file", "replaced");
    expect(await readFile(join(root, "folder/file"), "utf8")).toBe("inside");
    await storage.remove("/to-folder");
    expect((await readdir(root)).sort()).toEqual(["folder", "to-file"]);
  });

  it("removes a link as what it stands for, and as a file where it is not followed", async () => {
    const targets = { "to-folder": "folder", "to-file": "folder/file", out: outside, dangling: "missing" };
    for (const [name, target] of Object.entries(targets)) {
      await symlink(target, join(root, name));
      const kinds = name === "to-folder" ? (["file", "folder"] as const) : (["folder", "file"] as const);
      await expect(storage.remove(`/${name}`, { kind: kinds[0] }), name).rejects.toMatchObject({ code: "not-found" });
      await storage.remove(`/${name}`, { kind: kinds[1] });
      expect(await readdir(root), name).toEqual(["folder"]);
    }
    expect(await readFile(join(root, "folder/file"), "utf8")).toBe("inside");
    expect((await readdir(outside)).sort()).toEqual(["deep", "file"]);
  });

  it("removes a link by the tag of the file that it stands for, and none to a folder, which has no tag", async () => {
    await symlink("folder", join(root, "to-folder"));
    await symlink("folder/file", join(root, "to-file"));
    const etag = (await storage.stat("/to-file"))?.etag ?? "";
    const refused = { code: "precondition-failed" };
    await expect(storage.remove("/to-file", { ifMatch: ['"another"'] })).rejects.toMatchObject(refused);
    await expect(storage.remove("/to-folder", { ifMatch: "*" })).rejects.toMatchObject(refused);
    await storage.remove("/to-file", { ifMatch: [etag] });
    expect((await readdir(root)).sort()).toEqual(["folder", "to-folder"]);
    expect(await readFile(join(root, "folder/file"), "utf8")).toBe("inside");
  });

  it("removes no file that takes the place of a link to a folder", async () => {
    for (let round = 0; round < 20; round += 1) {
      await symlink("folder", join(root, "name"));
      const written = Array.from({ length: 5 }, () => put(storage, "/name", "new"));
      const removals = Array.from({ length: 20 }, () => storage.remove("/name", { kind: "folder" }));
      const refused = (await Promise.allSettled(removals)).filter(({ status }) => status === "rejected");
      await Promise.all(written);
      expect(refused.length, `round ${round}`).toBeGreaterThanOrEqual(19);
      expect((await storage.stat("/name"))?.kind, `round ${round}`).toBe("file");
      await storage.remove("/name", { kind: "file" });
    }
  });

  it("does not follow links out of the root, to nothing, or to the folder beside whose name begins alike", async () => {
    await mkdir(`${root}-beside`);
    const targets = [outside, "../outside/file", "missing", `${root}-beside`, "/", "..", "/etc/passwd", "self"];
    for (const target of targets) {
      await symlink(target, join(root, "self"));
      expect((await storage.stat("/self"))?.kind, target).toBe("link");
      await expect(storage.read("/self")).rejects.toMatchObject({ code: "not-found" });
      await expect(storage.list("/self")[Symbol.asyncIterator]().next()).rejects.toMatchObject({
        code: "not-a-folder",
      });
      await expect(put(storage, "/self/new", "x")).rejects.toMatchObject({ code: "not-a-folder" });
      await rm(join(root, "self"));
    }
  });

  it("does not go round in circles: a walk of the whole tree ends", async () => {
    await symlink("..", join(root, "folder/parent"));
    await symlink(".", join(root, "folder/itself"));
    await mkdir(join(root, "other"));
    await symlink("../other", join(root, "folder/other"));
    await symlink("../folder", join(root, "other/folder"));
    const found: string[] = [];
    const walk = async (path: string): Promise<void> => {
      for await (const { name, kind } of storage.list(path || "/")) {
        found.push(`${path}/${name} ${kind}`);
        if (kind === "folder") await walk(`${path}/${name}`);
      }
    };
    await walk("");
    expect(found).toContain("/folder/parent link");
    expect(found).toContain("/folder/itself link");
    expect(found).toContain("/folder/other folder");
    expect(found).toContain("/folder/other/folder link");
    expect(found).toContain("/other/folder/other link");
  });
});

describe.each([
  { name: "by descriptors", platform: process.platform, writes: true },
  { name: "by paths, as on other systems", platform: "freebsd", writes: false },
])("a folder swapped for a link to outside again and again ($name)", ({ name, platform, writes }) => {
  it.each(["hidden", "inside"] as const)(
    "leaks no byte and lets nothing out (links: %s)",
    { timeout: SWAPPING_SECONDS * 1000 + 20_000 },
    async (links) => {
      const actual = process.platform;
      Object.defineProperty(process, "platform", { value: platform });
      const storage = createDiskStorage({ root, durability: "rename", links });
      Object.defineProperty(process, "platform", { value: actual });
      const swapper = await startSwapper();
      const outcomes = { succeeded: 0, refused: 0, texts: new Set<string>() };
      const actions = [...readActions(storage, outcomes.texts), ...(writes ? writeActions(storage) : [])];
      const end = Date.now() + SWAPPING_SECONDS * 1000;
      while (Date.now() < end) {
        for (const { status, reason } of (await Promise.allSettled(actions.map((action) => action()))) as Outcome[]) {
          if (status === "rejected" && !isStorageError(reason)) throw reason;
          outcomes[status === "rejected" ? "refused" : "succeeded"] += 1;
        }
      }
      swapper.kill();
      await once(swapper, "exit");
      expect(outcomes.succeeded).toBeGreaterThan(10);
      expect(outcomes.refused).toBeGreaterThan(10);
      expect([...outcomes.texts].filter((text) => text !== "inside")).toEqual([]);
      expect((await readdir(outside, { recursive: true })).sort()).toEqual(["deep", "deep/file", "file"]);
      expect(await readFile(join(outside, "file"), "utf8")).toBe("from outside");
      const row = "Links swapped under requests";
      reportFigure({ row, what: `seconds, ${name}, links ${links}, nothing leaked`, value: SWAPPING_SECONDS });
      reportFigure({ row, what: "requests", value: outcomes.succeeded + outcomes.refused });
    },
  );
});

interface Outcome {
  readonly status: "fulfilled" | "rejected";
  readonly reason?: unknown;
}

function readActions(storage: StorageAdapter, texts: Set<string>): (() => Promise<unknown>)[] {
  const note = async (path: string) => texts.add(await readFileText(storage, path));
  const list = async (path: string) => {
    for await (const { size } of storage.list(path)) if (size === 12) texts.add("size from outside");
  };
  const size = async (path: string) => {
    if ((await storage.stat(path))?.size === 12) texts.add("size from outside");
  };
  return ["/folder/file", "/folder/deep/file"].flatMap((path) => [
    () => note(path),
    () => size(path),
    () => list(path.slice(0, -5)),
  ]);
}

function writeActions(storage: StorageAdapter): (() => Promise<unknown>)[] {
  let number = 0;
  const next = () => {
    number += 1;
    return number;
  };
  return [
    () => put(storage, `/folder/written-${next()}`, "written"),
    () => put(storage, "/folder/deep/file", "inside"),
    () => storage.createFolder(`/folder/made-${next()}`),
    async () => {
      const path = `/folder/tree-${next()}`;
      await storage.createFolder(path);
      await storage.createFolder(`${path}/deep`);
      await put(storage, `${path}/deep/file`, "x");
      await storage.remove(path);
    },
  ];
}

/** Swaps `folder` for a link to outside, and back, as fast as it can. */
async function startSwapper() {
  const program = join(base, "swapper.mjs");
  await writeFile(
    program,
    `import { renameSync, symlinkSync, unlinkSync } from "node:fs";
     const [folder, away, outside] = process.argv.slice(2);
     process.send("started");
     process.on("disconnect", () => process.exit());
     function swap() {
       for (let round = 0; round < 50; round += 1) {
         renameSync(folder, away);
         symlinkSync(outside, folder);
         unlinkSync(folder);
         renameSync(away, folder);
       }
       setImmediate(swap);
     }
     swap();`,
  );
  const swapper = fork(program, [join(root, "folder"), join(root, "away"), outside]);
  await once(swapper, "message");
  return swapper;
}
