import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, open, readdir, readFile, rm, writeFile } from "node:fs/promises";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import type { StorageAdapter } from "../../../src/contracts/storage-adapter.ts";
import { createAccountsAuthenticator, createFileService } from "../../../src/index.ts";
import { closeNodeServer, createNodeServer } from "../../../src/node.ts";
import { createDiskStorage } from "../../../src/storage/disk.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { findGvfs, findMount, findProgram } from "./programs.ts";

const run = promisify(execFile);
const quiet = { info() {}, warn() {}, error() {} };

let base: string;
let root: string;
/** The URLs of the home folders of a service on a disk, and of one in memory. */
let urls: { readonly disk: string; readonly memory: string };
const servers: Server[] = [];

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), "fileferry-webdav-"));
  root = join(base, "root");
  await mkdir(root);
  const disk = await serve(createDiskStorage({ root, durability: "rename" }));
  urls = { disk, memory: await serve(createMemoryStorage()) };
});

afterAll(async () => {
  for (const server of servers) {
    server.closeAllConnections();
    await closeNodeServer(server);
  }
  // What gvfs started ends with its bus, and may write until then.
  await rm(base, { recursive: true, maxRetries: 5 });
});

async function serve(storage: StorageAdapter): Promise<string> {
  const accounts = ["alice", "bob"].map((username) => ({ username, password: "secret", home_folder_path: "/" }));
  const authentication = createAccountsAuthenticator({ accounts, logger: quiet });
  const server = createNodeServer(createFileService({ webdav: {}, storage, authentication, logger: quiet })) as Server;
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/home/`;
}

const litmus = findProgram("litmus");
const rclone = findProgram("rclone");
const cadaver = findProgram("cadaver");
const gvfs = findGvfs();
const davfs = findMount();

describe.skipIf(litmus.missing)(`litmus${litmus.reason}`, () => {
  it.each([
    ["basic", "disk", 16],
    ["copymove", "disk", 13],
    ["copymove", "memory", 13],
    ["props", "disk", 30],
    ["props", "memory", 30],
    ["locks", "disk", 41],
    ["locks", "memory", 41],
    ["http", "disk", 4],
  ] as const)(
    "passes all of its suite %s on %s",
    async (suite, storage, count) => {
      const folder = await mkdtemp(join(base, "litmus-"));
      const environment = { ...process.env, TESTS: suite };
      const { stdout } = await run("litmus", ["-k", urls[storage], "alice", "secret"], {
        cwd: folder,
        env: environment,
      });
      expect(stdout).toContain(`of ${count} tests run: ${count} passed, 0 failed. 100.0%`);
      expect(stdout.split("\n").filter((line) => line.includes("WARNING"))).toEqual([]);
    },
    60_000,
  );
});

describe.skipIf(rclone.missing)(`rclone${rclone.reason}`, () => {
  async function ask(...args: readonly string[]): Promise<string> {
    const remote = `:webdav,url='${urls.disk}',user=alice,pass='${(await run("rclone", ["obscure", "secret"])).stdout.trim()}':`;
    const own = args.map((arg) => arg.replace("remote:", remote));
    const { stdout } = await run("rclone", ["--config", "/dev/null", ...own]);
    return stdout;
  }

  it("copies a tree there and back, lists it, moves it and removes it", async () => {
    const local = join(base, "local");
    await mkdir(join(local, "sub & more"), { recursive: true });
    await writeFile(join(local, "sub & more", "100% ä.txt"), "content");
    await writeFile(join(local, "empty"), "");
    await ask("copy", local, "remote:tree");
    expect((await ask("lsf", "-R", "remote:tree")).split("\n").sort()).toEqual([
      "",
      "empty",
      "sub & more/",
      "sub & more/100% ä.txt",
    ]);
    await ask("moveto", "remote:tree", "remote:moved");
    expect(await readFile(join(root, "moved", "sub & more", "100% ä.txt"), "utf8")).toBe("content");
    await ask("copy", "remote:moved", join(base, "back"));
    expect(await readFile(join(base, "back", "sub & more", "100% ä.txt"), "utf8")).toBe("content");
    await ask("purge", "remote:moved");
    expect(await readdir(root)).not.toContain("moved");
  }, 60_000);
});

describe.skipIf(cadaver.missing)(`cadaver${cadaver.reason}`, () => {
  /** Types commands, and resolves with what is printed; the login is read from the home folder. */
  async function type(...commands: readonly string[]): Promise<string> {
    const home = await mkdtemp(join(base, "cadaver-"));
    await writeFile(join(home, ".netrc"), "machine 127.0.0.1 login alice password secret\n", { mode: 0o600 });
    const running = run("cadaver", [urls.disk], { cwd: home, env: { ...process.env, HOME: home } });
    running.child.stdin?.end([...commands, "quit", ""].join("\n"));
    return (await running).stdout;
  }

  it("stores, lists, copies, moves, describes, locks and removes", async () => {
    const local = join(base, "local.txt");
    await writeFile(local, "content");
    const printed = await type(
      "mkcol drawer",
      "cd drawer",
      `put ${local} a.txt`,
      "copy a.txt b.txt",
      "move b.txt c.txt",
      "propset c.txt colour blue",
      "propget c.txt colour",
      "lock a.txt",
      "discover a.txt",
      `put ${local} a.txt`,
      "unlock a.txt",
      "ls",
      "delete a.txt",
    );
    expect(printed).not.toMatch(/failed/i);
    expect(printed).toMatch(/Value of colour is: *blue/);
    expect(printed).toMatch(/opaquelocktoken:/);
    expect(printed).toMatch(/a\.txt +7 /);
    expect(await readdir(join(root, "drawer"))).toEqual([".fileferry-properties", "c.txt"]);
    expect(await readFile(join(root, "drawer", "c.txt"), "utf8")).toBe("content");
  }, 60_000);
});

describe.skipIf(gvfs.missing)(`gvfs${gvfs.reason}`, () => {
  /** Runs commands with a bus and a home folder of their own. Rejects if one fails, else resolves with the output. */
  async function script(...commands: readonly string[]): Promise<string> {
    const home = await mkdtemp(join(base, "gvfs-"));
    const { stdout } = await run("dbus-run-session", ["--", "bash", "-euc", commands.join("\n")], {
      cwd: home,
      // Without the variables, the programs would write to the folders of who runs the tests.
      env: { ...process.env, HOME: home, XDG_RUNTIME_DIR: home, XDG_DATA_HOME: home, LC_ALL: "C.UTF-8" },
      timeout: 60_000,
    });
    return stdout;
  }

  it("mounts the home folder, stores, lists, renames, copies, moves and removes", async () => {
    const url = `dav://alice@${new URL(urls.disk).host}/home/`;
    const printed = await script(
      `gio mount ${url} <<<secret`,
      `gio mkdir ${url}cupboard`,
      "printf content > local.txt",
      `gio copy local.txt '${url}cupboard/100%25 %23ä.txt'`,
      `gio list -l ${url}cupboard`,
      `gio info '${url}cupboard/100%25%20%23%C3%A4.txt'`,
      `gio rename '${url}cupboard/100%25%20%23%C3%A4.txt' 'a #b 50% ü.txt'`,
      `gio copy '${url}cupboard/a%20%23b%2050%25%20%C3%BC.txt' ${url}cupboard/copied.txt`,
      `gio copy '${url}cupboard/a%20%23b%2050%25%20%C3%BC.txt' back.txt`,
      "cat back.txt; echo",
      `gio rename ${url}cupboard 'two words'`,
      `gio move '${url}two%20words/copied.txt' ${url}moved.txt`,
      `printf second | gio save ${url}moved.txt`,
      `gio copy local.txt '${url}two%20words/removed.txt'`,
      `gio remove '${url}two%20words/removed.txt'`,
      `gio mkdir ${url}removed`,
      `gio remove ${url}removed`,
      `gio list ${url}`,
      `gio mount --unmount ${url}`,
    );
    expect(printed).toMatch(/^100% #ä\.txt\t7\t\(regular\)$/m);
    expect(printed).toMatch(/^ *standard::content-type: text\/plain$/m);
    expect(printed).toMatch(/^ *etag::value: "/m);
    expect(printed).toMatch(/^content$/m);
    expect(printed.split("\n")).toEqual(expect.arrayContaining(["moved.txt", "two words"]));
    expect(await readdir(join(root, "two words"))).toEqual(["a #b 50% ü.txt"]);
    expect(await readFile(join(root, "two words", "a #b 50% ü.txt"), "utf8")).toBe("content");
    expect(await readFile(join(root, "moved.txt"), "utf8")).toBe("second");
    expect(await readdir(root)).not.toContain("removed");
  }, 60_000);
});

describe.skipIf(davfs.missing)(`davfs2${davfs.reason}`, () => {
  const mounted: string[] = [];

  afterEach(async () => {
    for (const folder of mounted.splice(0)) await run("umount", [folder]);
  });

  /** Mounts the home folder of an account with locks; what is stored is sent when its file is closed. */
  async function mount(account: string): Promise<string> {
    const home = await mkdtemp(join(base, "davfs-"));
    const folder = join(home, "mounted");
    await mkdir(folder);
    // The program leaves root's rights before it makes its cache.
    await mkdir(join(home, "cache"));
    for (const [path, mode] of [
      [base, 0o755],
      [home, 0o755],
      [join(home, "cache"), 0o777],
    ] as const)
      await chmod(path, mode);
    await writeFile(join(home, "secrets"), `${urls.disk} ${account} secret\n`, { mode: 0o600 });
    const settings = [
      "use_locks 1",
      "ask_auth 0",
      "delay_upload 0",
      `secrets ${home}/secrets`,
      `cache_dir ${home}/cache`,
    ];
    await writeFile(join(home, "davfs2.conf"), `${settings.join("\n")}\n`);
    await run("mount.davfs", ["-o", `conf=${home}/davfs2.conf,rw`, urls.disk, folder]);
    mounted.push(folder);
    return folder;
  }

  it("tells the second of two accounts that a document is locked, and loses nothing", async () => {
    await writeFile(join(root, "letter.odt"), "first text");
    const [alice, bob] = [await mount("alice"), await mount("bob")];
    const document = await open(join(alice, "letter.odt"), "r+");
    await expect(open(join(bob, "letter.odt"), "r+")).rejects.toThrow("EACCES");
    expect(await readFile(join(bob, "letter.odt"), "utf8")).toBe("first text");
    await document.write("alice wrote this", 0);
    await document.close();
    await vi.waitFor(
      async () => expect(await readFile(join(root, "letter.odt"), "utf8")).toBe("alice wrote this"),
      15_000,
    );
    await vi.waitFor(async () => (await open(join(bob, "letter.odt"), "r+")).close(), 15_000);
  }, 60_000);
});
