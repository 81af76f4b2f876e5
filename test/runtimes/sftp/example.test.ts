import { createHash, randomBytes } from "node:crypto";
import { mkdir, readFile, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { findMissingTool, runScp, startSftp } from "./client.ts";
import { createSftpEnvironment, type SftpEnvironment } from "./environment.ts";

const missing = findMissingTool();
const title =
  missing === undefined ? "examples/sftp-server.ts" : `examples/sftp-server.ts, not run: there is no ${missing} here`;
let environment: SftpEnvironment;

describe.skipIf(missing !== undefined)(title, () => {
  beforeAll(async () => {
    environment = await createSftpEnvironment();
  }, 60_000);

  afterAll(async () => {
    await environment?.close();
  });

  describe("OpenSSH's sftp", () => {
    it("puts and gets 20 MiB identically, also over a former file", async () => {
      const bytes = randomBytes(20 * 1024 * 1024);
      await writeFile(join(environment.local, "big.bin"), bytes);
      await writeFile(join(environment.root, "alice/big.bin"), "former");
      const { status, stderr } = await environment.run("put big.bin", "get big.bin back.bin");
      expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
      expect(digest(await readFile(join(environment.root, "alice/big.bin")))).toBe(digest(bytes));
      expect(digest(await readFile(join(environment.local, "back.bin")))).toBe(digest(bytes));
    });

    it("makes, lists and removes files and folders", async () => {
      await writeFile(join(environment.local, "a.txt"), "twelve bytes");
      await environment.run("mkdir list", "mkdir list/sub", "put a.txt list/a.txt");
      const { stdout } = await environment.run("ls -l list", "ls -l list/a.txt");
      const line = /-rw-r--r-- .* 12 \w{3} [ \d]\d \d\d:\d\d (?:\/list\/|list\/)?a\.txt$/m;
      expect(stdout).toMatch(line);
      expect(stdout).toMatch(/^drwxr-xr-x .* (?:list\/)?sub$/m);
      expect((await environment.run("rmdir list")).stderr).toContain("Failure");
      expect(await environment.stored("alice/list")).toEqual(["a.txt", "sub"]);
      expect(await environment.run("rm list/a.txt", "rmdir list/sub", "rmdir list")).toMatchObject({
        status: 0,
        stderr: "",
      });
      expect(await environment.stored()).not.toContain("list");
    });

    it("keeps names as they are, and an empty file", async () => {
      const names = ["with space.txt", "🚢 über.txt", "100%.txt"];
      for (const name of names) {
        await writeFile(join(environment.local, name), "");
        expect(await environment.run(`put "${name}" "${name}"`)).toMatchObject({ status: 0, stderr: "" });
        expect(await environment.overHttp(`/${name}`)).toEqual({ status: 200, text: "", serverPath: `/${name}` });
      }
      expect(await environment.stored()).toEqual(expect.arrayContaining(names));
      const { stdout } = await environment.run("ls -1");
      for (const name of names) expect(stdout.split("\n")).toContain(name);
    });

    it("finds its way with . and .., which end at the root", async () => {
      await writeFile(join(environment.local, "dot.txt"), "dot");
      const { status, stdout } = await environment.run(
        "mkdir d",
        "cd d",
        "put dot.txt .",
        "ls ../d/.",
        "cd ../../..",
        "pwd",
      );
      expect(status).toBe(0);
      expect(stdout).toMatch(/directory: \/\n$/);
      expect(await environment.stored("alice/d")).toEqual(["dot.txt"]);
    });

    it("lists more members than one answer holds", async () => {
      await mkdir(join(environment.root, "alice/many"));
      const names = Array.from({ length: 300 }, (_, index) => `m${index}.txt`);
      for (const name of names) await writeFile(join(environment.root, "alice/many", name), "");
      const { stdout } = await environment.run("cd many", "ls -1");
      expect(
        stdout
          .split("\n")
          .filter((line) => line.startsWith("m"))
          .sort(),
      ).toEqual(names.sort());
    });

    it("puts with -p, which keeps the time", async () => {
      const time = new Date("2001-02-03T04:05:06Z");
      await writeFile(join(environment.local, "p.txt"), "p");
      await utimes(join(environment.local, "p.txt"), time, time);
      expect(await environment.run("put -p p.txt")).toMatchObject({ status: 0, stderr: "" });
      const { mtime } = await stat(join(environment.root, "alice/p.txt"));
      expect(Math.floor(mtime.getTime() / 1000)).toBe(time.getTime() / 1000);
    });

    it("renames files and folders, over nothing", async () => {
      await writeFile(join(environment.local, "old.txt"), "old");
      await environment.run("put old.txt", "mkdir old", "put old.txt old/in.txt", "put old.txt taken.txt");
      expect(await environment.run("rename old.txt new.txt", "rename old new")).toMatchObject({
        status: 0,
        stderr: "",
      });
      expect(await environment.stored("alice/new")).toEqual(["in.txt"]);
      expect((await environment.run("rename new.txt taken.txt")).stderr).toContain("Failure");
      expect((await environment.run("rename none.txt other.txt")).stderr).toContain("No such file");
      expect(await environment.stored()).toEqual(expect.arrayContaining(["new.txt", "taken.txt"]));
    });

    it("changes nothing that a WebDAV client has locked", async () => {
      await writeFile(join(environment.root, "alice/locked.txt"), "locked");
      await writeFile(join(environment.local, "locked.txt"), "another");
      await environment.lock("/locked.txt");
      for (const command of ["put locked.txt", "rename locked.txt gone.txt", "rm locked.txt"]) {
        expect((await environment.run(command)).status).toBe(1);
      }
      expect(await readFile(join(environment.root, "alice/locked.txt"), "utf8")).toBe("locked");
    });

    it("cannot resume or change owners by halves", async () => {
      await writeFile(join(environment.local, "r.txt"), "longer than before");
      await writeFile(join(environment.root, "alice/r.txt"), "before");
      expect((await environment.run("reput r.txt")).status).toBe(1);
      expect(await readFile(join(environment.root, "alice/r.txt"), "utf8")).toBe("before");
    });

    it("that is killed midway leaves the former file and no residue", async () => {
      await writeFile(join(environment.local, "slow.bin"), randomBytes(8 * 1024 * 1024));
      await writeFile(join(environment.root, "alice/slow.bin"), "former");
      const before = await environment.stored();
      const child = await startSftp(environment.local, environment.access, ["put slow.bin"], ["-l", "16000"]);
      await vi.waitFor(async () => expect(await environment.stored()).not.toEqual(before), {
        timeout: 10_000,
        interval: 20,
      });
      child.kill("SIGKILL");
      await vi.waitFor(async () => expect(await environment.stored()).toEqual(before), {
        timeout: 10_000,
        interval: 20,
      });
      expect(await readFile(join(environment.root, "alice/slow.bin"), "utf8")).toBe("former");
    });
  });

  describe("OpenSSH's scp", () => {
    it.each(["longer than the new one", "former", ""])("takes the place of a file: %j", async (former) => {
      await writeFile(join(environment.root, "alice/c.txt"), former);
      await writeFile(join(environment.local, "c.txt"), "the new one");
      const outcome = await runScp(environment.local, environment.access, ["-p", "c.txt", ":c.txt"]);
      expect(outcome).toMatchObject({ status: 0, stderr: "" });
      expect(await readFile(join(environment.root, "alice/c.txt"), "utf8")).toBe("the new one");
    });

    it("takes whole trees there and back", async () => {
      await mkdir(join(environment.local, "tree/in"), { recursive: true });
      await writeFile(join(environment.local, "tree/in/t.txt"), "leaf");
      expect((await runScp(environment.local, environment.access, ["-r", "tree", ":"])).status).toBe(0);
      expect(await environment.stored("alice/tree/in")).toEqual(["t.txt"]);
      expect((await runScp(environment.local, environment.access, ["-r", ":tree", "back"])).status).toBe(0);
      expect(await readFile(join(environment.local, "back/in/t.txt"), "utf8")).toBe("leaf");
    });
  });

  describe("the files", () => {
    it("are those of HTTP, on the paths that Server-Path names (1.4)", async () => {
      await mkdir(join(environment.root, "alice/reports"));
      await writeFile(join(environment.local, "a.csv"), "a,b\n");
      const { serverPath } = await environment.overHttp("/reports/a.csv");
      expect(serverPath).toBe("/reports/a.csv");
      expect((await environment.run(`put a.csv ${serverPath}`)).status).toBe(0);
      expect(await environment.overHttp("/reports/a.csv")).toEqual({ status: 200, text: "a,b\n", serverPath });
    });

    it("are under the permissions of HTTP", async () => {
      await writeFile(join(environment.local, "w.txt"), "w");
      expect((await environment.overHttp("/readonly/r.txt", "DELETE")).status).toBe(403);
      expect((await environment.run("rm /readonly/r.txt")).stderr).toContain("Permission denied");
      expect((await environment.run("put w.txt /readonly/w.txt")).stderr).toContain("Permission denied");
      expect((await environment.run("mkdir /readonly/new")).stderr).toContain("Permission denied");
      expect((await environment.run("get /readonly/r.txt got.txt")).status).toBe(0);
      expect(await environment.stored("alice/readonly")).toEqual(["r.txt"]);
    });

    it("may be such that they can only be dropped", async () => {
      await writeFile(join(environment.local, "w.txt"), "w");
      expect(await environment.run("put w.txt /drop/w.txt", "put w.txt /drop/w.txt")).toMatchObject({
        status: 0,
        stderr: "",
      });
      expect((await environment.run("get /drop/w.txt got.txt")).stderr).toContain("Permission denied");
      expect((await environment.run("ls /drop")).status).toBe(1);
    });

    it("have the virtual folders of HTTP", async () => {
      await writeFile(join(environment.local, "v.txt"), "shared");
      expect((await environment.run("put v.txt /common/v.txt")).status).toBe(0);
      expect(await readFile(join(environment.root, "shared/v.txt"), "utf8")).toBe("shared");
      expect((await environment.overHttp("/common/v.txt")).text).toBe("shared");
      expect((await environment.run("ls -1")).stdout).toMatch(/^common$/m);
      expect((await environment.run("rmdir /common")).status).toBe(1);
    });

    it("have no reserved name", async () => {
      expect((await environment.run("mkdir /__svc__")).stderr).toContain("Permission denied");
    });
  });
});

function digest(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
