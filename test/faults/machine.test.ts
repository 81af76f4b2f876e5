import { execFileSync } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { chmod, mkdir } from "node:fs/promises";
import { Agent } from "node:http";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ensureBuilt } from "../support/built.ts";
import { remount } from "../support/small-disk.ts";
import { reportFigure } from "../support/trust.ts";
import { toUnprivileged } from "../support/unprivileged.ts";
import {
  type Ask,
  ask,
  askBy,
  contentOf,
  diskOfTest,
  expectFormRefused,
  expectRefusal,
  expectRefused,
  fill,
  logIn,
  namesBelow,
  put,
  startMachine,
  toForm,
  unfill,
} from "./machine-environment.ts";

const FULL = "The storage is full.";
const DENIED = "The storage denied access.";
const LARGE = Buffer.alloc(3_000_000, "new");
/** How many causes of failure were tried, each until the service was well again. */
let causes = 0;

beforeAll(ensureBuilt);
afterAll(() => {
  reportFigure({ row: "Failing machine", what: "causes, each with recovery at the next request", value: causes });
});

describe("a disk without space", () => {
  it("answers 507, keeps what there is and no residue, and takes uploads when there is space again", async ({
    skip,
  }) => {
    const root = diskOfTest(skip);
    const machine = await startMachine({ storage: { type: "disk", root } });
    expect((await put(machine, "file", "former")).status).toBe(201);
    await expectRefused(machine, { method: "PUT", path: "home/file", body: LARGE }, 507);
    await expectRefused(machine, { method: "PUT", path: "home/new", body: LARGE }, 507);
    await expectFormRefused(machine, "", { file: LARGE, other: LARGE }, 507, FULL);
    fill(join(root, "filler"));
    await expectRefused(machine, { method: "PUT", path: "home/file", body: "a few bytes" }, 507);
    expect(await contentOf(machine, "file")).toBe("former");
    await unfill(join(root, "filler"));
    expect(await namesBelow(root)).toEqual(["file"]);
    expect((await put(machine, "file", "and works again")).status).toBe(201);
    expect(await contentOf(machine, "file")).toBe("and works again");
    causes += 1;
  });

  it("is made free by a removal, and keeps of a form what had room", async ({ skip }) => {
    const root = diskOfTest(skip);
    const machine = await startMachine({ storage: { type: "disk", root } });
    expect((await put(machine, "large", LARGE.subarray(0, 700_000))).status).toBe(201);
    const reply = await ask(machine, toForm("", { small: "has room", large: LARGE, last: "has room too" }));
    const messages = { small: null, large: FULL, last: null };
    const errors = Object.entries(messages).map(([target, message]) => ({ target, message }));
    expect([reply.status, JSON.parse(reply.text)]).toEqual([422, { errors }]);
    expect([await contentOf(machine, "small"), await contentOf(machine, "last")]).toEqual(["has room", "has room too"]);
    expect((await contentOf(machine, "large")).length).toBe(700_000);
    expect((await put(machine, "other", LARGE.subarray(0, 600_000))).status).toBe(507);
    expect((await ask(machine, { method: "DELETE", path: "home/large" })).status).toBe(204);
    expect((await put(machine, "other", LARGE.subarray(0, 600_000))).status).toBe(201);
    expect(await namesBelow(root)).toEqual(["last", "other", "small"]);
    causes += 1;
  });

  it("without inodes answers 507 to new files and folders and keeps the former, until one is free", async ({
    skip,
  }) => {
    const root = diskOfTest(skip, { inodes: 20 });
    const machine = await startMachine({ storage: { type: "disk", root } });
    expect((await put(machine, "file", "former")).status).toBe(201);
    const fillers: string[] = [];
    try {
      for (let number = 0; ; number += 1) {
        writeFileSync(join(root, `filler-${number}`), "");
        fillers.push(`filler-${number}`);
      }
    } catch {
      // As it should.
    }
    await expectRefused(machine, { method: "PUT", path: "home/new", body: "new" }, 507);
    await expectRefused(machine, { method: "PUT", path: "home/file", body: "new" }, 507);
    await expectRefused(machine, { method: "PUT", path: "home/folder/" }, 507);
    await expectFormRefused(machine, "", { new: "new", file: "new" }, 507, FULL);
    expect(await contentOf(machine, "file")).toBe("former");
    expect((await ask(machine, { method: "DELETE", path: `home/${fillers.pop()}` })).status).toBe(204);
    expect((await put(machine, "file", "next")).status).toBe(201);
    expect((await ask(machine, { method: "MKCOL", path: "home/folder/" })).status).toBe(201);
    expect(await namesBelow(root)).toEqual(["file", "folder", ...fillers].sort());
    causes += 1;
  });
});

describe("a disk that is for reading alone", () => {
  it("answers 403 to every change and serves what it has, until it may be written again", async ({ skip }) => {
    const root = diskOfTest(skip);
    const machine = await startMachine({ storage: { type: "disk", root } });
    await mkdir(join(root, "folder"));
    expect((await put(machine, "folder/file", "former")).status).toBe(201);
    remount(root, "ro");
    const changes: readonly Ask[] = [
      { method: "PUT", path: "home/folder/file", body: "new" },
      { method: "PUT", path: "home/new", body: "new" },
      { method: "PUT", path: "home/new/" },
      { method: "DELETE", path: "home/folder/file" },
      { method: "DELETE", path: "home/folder/" },
    ];
    for (const change of changes) await expectRefused(machine, change, 403);
    await expectFormRefused(machine, "folder/", { file: "new" }, 403, DENIED);
    expect(await contentOf(machine, "folder/file")).toBe("former");
    await expect.poll(machine.run.stderr, { message: "the operator learns why" }).toContain("EROFS");
    remount(root, "rw");
    expect((await put(machine, "folder/file", "next")).status).toBe(201);
    expect(await contentOf(machine, "folder/file")).toBe("next");
    expect(await namesBelow(root)).toEqual(["folder", "folder/file"]);
    causes += 1;
  });
});

describe("files that the process may not touch", () => {
  it("are answered 403, and served with the next request when it may again", async ({ skip }) => {
    const machine = await startMachine({}, toUnprivileged(skip));
    const files = join(machine.folder, "files");
    for (const name of ["closed", "readable"]) {
      expect((await ask(machine, { method: "MKCOL", path: `home/${name}/` })).status).toBe(201);
      expect((await put(machine, `${name}/file`, "kept")).status).toBe(201);
    }
    expect((await put(machine, "hidden", "kept")).status).toBe(201);
    await chmod(join(files, "closed"), 0);
    await chmod(join(files, "readable"), 0o555);
    await chmod(join(files, "hidden"), 0);
    const refused: readonly Ask[] = [
      { method: "GET", path: "home/hidden" },
      { method: "GET", path: "home/closed/" },
      { method: "GET", path: "home/closed/file" },
      { method: "PUT", path: "home/closed/file", body: "new" },
      { method: "PUT", path: "home/readable/file", body: "new" },
      { method: "PUT", path: "home/readable/new", body: "new" },
      { method: "PUT", path: "home/readable/new/" },
      { method: "DELETE", path: "home/readable/file" },
    ];
    for (const request of refused) await expectRefused(machine, request, 403);
    await expectFormRefused(machine, "readable/", { file: "new" }, 403, DENIED);
    expect(await contentOf(machine, "readable/file")).toBe("kept");
    for (const name of ["closed", "readable", "hidden"]) await chmod(join(files, name), 0o755);
    expect(await contentOf(machine, "hidden")).toBe("kept");
    expect(await contentOf(machine, "closed/file")).toBe("kept");
    expect((await put(machine, "readable/file", "next")).status).toBe(201);
    expect(await namesBelow(files)).toEqual(["closed", "closed/file", "hidden", "readable", "readable/file"]);
    causes += 1;
  });
});

describe("a process that may open no more files", () => {
  it("answers 503 to what needs one, goes on with sessions and logins, and is well with the next request", async ({
    skip,
  }) => {
    const machine = await startMachine();
    const pid = String(machine.run.child.pid);
    if (process.platform !== "linux") skip("limits of another process are set on Linux alone");
    expect((await put(machine, "file", "former")).status).toBe(201);
    const session = await logIn(machine);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    // This connection exists already. New ones cannot be opened meanwhile.
    expect((await askBy(agent, machine, { method: "GET", path: "home/file" })).text).toBe("former");
    execFileSync("prlimit", ["--pid", pid, `--nofile=${await lowestFree(pid)}:`]);
    const refused: readonly Ask[] = [
      { method: "GET", path: "home/file" },
      { method: "GET", path: "home/" },
      { method: "PUT", path: "home/file", body: "new" },
      { method: "PUT", path: "home/new", body: "new" },
      { method: "DELETE", path: "home/file" },
      { method: "PUT", path: "home/folder/" },
    ];
    for (const request of refused) {
      expectRefusal(await askBy(agent, machine, request), 503, false, `${request.method} ${request.path}`);
    }
    const headers = { Authorization: `session ${session}`, Accept: "text/html" };
    expect((await askBy(agent, machine, { method: "GET", path: "home/", headers })).status).toBe(503);
    const login = JSON.stringify({ username: "alice", password: "secret" });
    const asJson = { "Content-Type": "application/json", Authorization: "" };
    const again = await askBy(agent, machine, { method: "POST", path: "__svc__/login", headers: asJson, body: login });
    expect(again.status, again.text).toBe(200);
    const logout = { method: "POST", path: "__svc__/logout", headers: { Authorization: `session ${session}` } };
    expect((await askBy(agent, machine, logout)).status).toBeLessThan(400);
    execFileSync("prlimit", ["--pid", pid, "--nofile=1024:"]);
    expect((await askBy(agent, machine, { method: "GET", path: "home/file" })).text).toBe("former");
    expect((await put(machine, "file", "next")).status).toBe(201);
    expect(await namesBelow(join(machine.folder, "files"))).toEqual(["file"]);
    agent.destroy();
    causes += 1;
  });
});

/** The lowest number that no descriptor of a process keeps: with this as its limit it gets none. */
async function lowestFree(pid: string): Promise<number> {
  let lowest = Number.POSITIVE_INFINITY;
  // One that is open for a moment only, such as that of a file being read, is seen as free by a later look.
  for (let look = 0; look < 10; look += 1) {
    const open = new Set(readdirSync(`/proc/${pid}/fd`));
    let number = 0;
    while (open.has(String(number))) number += 1;
    lowest = Math.min(lowest, number);
    await delay(20);
  }
  return lowest;
}
