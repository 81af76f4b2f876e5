import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeFolder, startServer } from "../support/built.ts";
import { runInProcess } from "../support/run-in-process.ts";

const ALICE = { Authorization: `Basic ${btoa("alice:secret of alice")}` };

async function configure(members: object): Promise<string> {
  const file = join(await makeFolder(), "fileferry.json");
  const config = {
    listen: { port: 0 },
    storage: { type: "memory" },
    authentication: [{ type: "accounts", accounts: [{ username: "alice", password: "secret of alice" }] }],
    ...members,
  };
  await writeFile(file, JSON.stringify(config));
  return file;
}

describe("the key quota of a configuration", () => {
  it("makes the quotas of groups and folders hold, and shows what is left", async () => {
    const config = await configure({
      groups: { DEFAULT_GROUP: { quota_bytes: 100 } },
      quota: { folders: [{ path: "/", files: 2 }] },
    });
    const { url } = await startServer(["serve", "--config", config]);
    const put = async (name: string, size: number): Promise<number> => {
      const body = "x".repeat(size);
      return (await fetch(`${url}home/${name}`, { method: "PUT", headers: ALICE, body })).status;
    };
    expect(await put("a", 90)).toBe(201);
    expect(await put("b", 11)).toBe(507);
    expect(await put("b", 1)).toBe(201);
    expect(await put("c", 1)).toBe(507);
    const shown = await fetch(`${url}home/__svc__/quota`, { headers: ALICE });
    expect(await shown.json()).toMatchObject({
      results: [{ path: "/", used_bytes: 91, limit_bytes: 100, available_files: 0 }],
    });
  });

  it.each([
    [{ folders: [{ path: "shared", bytes: 1 }] }, "quota: folders[0].path: must be a canonical path, such as /shared"],
    [{ folders: [{ path: "/shared", bytes: -1 }] }, "quota: folders[0].bytes: must be a whole number, 0 or more"],
    [{ store: "file://x" }, "quota.store: must be memory, redis://HOST, rediss://HOST or sqlite://FILE"],
  ])("is checked at the start: %j", async (quota, problem) => {
    const { status, stderr } = await runInProcess(["serve", "--config", await configure({ quota })]);
    expect(status).toBe(2);
    expect(stderr).toContain(problem.split(": ").at(-1));
  });

  it("is shown and recounted by fileferry quota", async () => {
    const root = await makeFolder();
    await mkdir(join(root, "shared"));
    await writeFile(join(root, "shared/a"), "12345");
    const folders = [{ path: "/shared", bytes: 100 }];
    const config = await configure({ storage: { type: "disk", root }, quota: { folders } });
    const run = (...args: string[]) => runInProcess(["quota", ...args, "--config", config]);
    expect(await run("show")).toMatchObject({ status: 0, stdout: "/shared  5 of 100 bytes, 1 files\n" });
    await writeFile(join(root, "shared/b"), "67");
    const { stdout } = await run("recount", "/shared", "--json");
    expect(JSON.parse(stdout)).toEqual({
      results: [expect.objectContaining({ path: "/shared", used_bytes: 7, limit_bytes: 100, used_files: 2 })],
    });
    expect(await run("show", "shared/")).toMatchObject({ status: 2, stderr: expect.stringContaining("canonical") });
  });

  it("is refused with workers that would each count alone", async () => {
    const file = join(await makeFolder(), "sessions.sqlite");
    const root = await makeFolder();
    const shared = { storage: { type: "disk", root }, session: { store: `sqlite://${file}` } };
    const config = await configure({ ...shared, quota: {} });
    const { status, stderr } = await runInProcess(["serve", "--config", config, "--workers", "2"]);
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining("set quota.store") });
  });
});
