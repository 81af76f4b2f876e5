import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { sha256Hex } from "../../src/platform/sha256.ts";
import { ensureBuilt, makeFolder, startServer } from "../support/built.ts";
import { runInProcess } from "../support/run-in-process.ts";
import { noteKeys } from "../support/secrets/secrets.ts";

beforeAll(ensureBuilt);

const ACCOUNTS = {
  accounts: [
    { password: "secret of alice", username: "alice", email: "a@files.example" },
    { username: "bob", password: "secret of bob" },
  ],
};

async function open(accounts: object = ACCOUNTS) {
  const folder = await makeFolder();
  const [file, config] = [join(folder, "accounts.json"), join(folder, "fileferry.json")];
  await writeFile(file, JSON.stringify(accounts, null, 2));
  const authentication = [{ type: "accounts", file: "accounts.json" }];
  const storage = { type: "disk", root: await makeFolder() };
  await writeFile(config, JSON.stringify({ listen: { port: 0 }, storage, authentication }));
  const run = async (args: readonly string[], place = ["--file", file]) => {
    const result = await runInProcess(["key", ...args, ...place]);
    noteKeys(result.stdout);
    return result;
  };
  return { file, config, run, read: async () => JSON.parse(await readFile(file, "utf8")) };
}

describe("fileferry key", () => {
  it("makes a key, keeps its SHA-256 with the account, lists and revokes it", async () => {
    const { run, read } = await open();
    const limits = ["--permission", "allow-read", "--permission", "allow-list", "--path", "/reports"];
    const made = await run(["create", "--account", "alice", "--label", "back\u202eup", ...limits, "--expires", "30d"]);
    expect(made).toMatchObject({ status: 0, stderr: "" });
    const [, text = "", id = ""] = /^(ff_([0-9a-f]{16})_[0-9a-f]{32})\n$/.exec(made.stdout) ?? [];
    const [alice, bob] = (await read()).accounts;
    expect(Object.keys(alice)).toEqual(expect.arrayContaining(["username", "password", "email", "keys"]));
    const [key] = alice.keys;
    expect(key).toEqual({
      id,
      label: "back\u202eup",
      sha256: sha256Hex(text),
      permissions: ["allow-read", "allow-list"],
      path: "/reports",
      created_at: expect.any(Number),
      expires_at: key.created_at + 30 * 86_400,
    });
    expect(bob).toEqual({ username: "bob", password: "secret of bob" });
    const other = await run(["create", "--account", "bob", "--json"]);
    expect(JSON.parse(other.stdout)).toMatchObject({ account: "bob", key: expect.stringMatching(/^ff_/) });
    const listed = (await run(["list"])).stdout;
    const until = new Date(key.expires_at * 1000).toISOString().replace(".000", "");
    expect(listed).toMatch(new RegExp(`^${id}  alice  /reports  allow-read allow-list, until ${until}, back`));
    expect(listed).toMatch(/\n[0-9a-f]{16} {2}bob {2}\/ {2}all permissions, does not expire\n$/);
    expect(listed).not.toMatch(/ff_|\u202e/);
    const json = (await run(["list", "--account", "alice", "--json"])).stdout;
    expect(JSON.parse(json)).toMatchObject({ account: "alice", id, path: "/reports" });
    expect(json).not.toContain(key.sha256);
    expect(await run(["revoke", id])).toEqual({ status: 0, stdout: `revoke: ${id}\n`, stderr: "" });
    expect((await read()).accounts[0]).toEqual(ACCOUNTS.accounts[0]);
    const { id: otherId, key: otherText } = JSON.parse(other.stdout);
    expect(await run(["revoke", otherText])).toEqual({ status: 0, stdout: `revoke: ${otherId}\n`, stderr: "" });
    const unknown = await run(["revoke", otherText]);
    expect(unknown).toMatchObject({ status: 1, stderr: `error: there is no API key with the ID ${otherId}\n` });
    expect((await read()).accounts[1]).toEqual(ACCOUNTS.accounts[1]);
  });

  it.each([
    ["an unknown account", ["create", "--account", "eve"], 1, "error: there is no account eve\n"],
    ["an unknown key", ["revoke", "0123456789abcdef"], 1, "error: there is no API key with the ID 0123456789abcdef\n"],
    ["an unknown permission", ["create", "--account", "alice", "--permission", "all"], 2, /expected one of allow-full/],
    ["a path that is none", ["create", "--account", "alice", "--path", "x/"], 2, /^error: --path must be "\/"/],
    ["a time that is none", ["create", "--account", "alice", "--expires", "soon"], 2, /expected seconds/],
  ] as const)("refuses %s, and changes nothing", async (_case, args, status, stderr) => {
    const { run, read } = await open();
    const result = await run(args);
    expect([result.status, result.stdout]).toEqual([status, ""]);
    if (typeof stderr === "string") expect(result.stderr).toBe(stderr);
    else expect(result.stderr).toMatch(stderr);
    expect(await read()).toEqual(ACCOUNTS);
  });

  it("needs one place, finds the file of the configuration, and refuses a key that it does not understand", async () => {
    const { run, config, file, read } = await open();
    expect((await run(["list"], [])).stderr).toBe("error: --file or --config is needed\n");
    const both = await run(["list"], ["--config", config, "--file", file]);
    expect([both.status, both.stderr]).toEqual([2, "error: --file or --config is needed, and not both\n"]);
    const relative = await run(["create", "--account", "alice", "--path", "reports"]);
    expect(relative).toMatchObject({ status: 2, stderr: expect.stringMatching(/^error: --path must be "\/", or an /) });
    expect((await run(["create", "--account", "alice"], ["--config", config])).status).toBe(0);
    const accounts = await read();
    accounts.accounts[0].keys[0].scope = "none";
    await writeFile(file, JSON.stringify(accounts));
    const refused = await run(["list"]);
    expect(refused).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/keys\[0\]\.scope: unknown key/),
    });
  });

  it("counts in a running service within a second: a new key, a disabled account, a revoked key", async () => {
    const { run, config, file } = await open();
    const { url } = await startServer(["serve", "--config", config]);
    const { stdout } = await run(["create", "--account", "alice"]);
    const authorization = `Bearer ${stdout.trim()}`;
    const ask = async () =>
      (await fetch(`${url}home/`, { headers: { authorization, accept: "application/json" } })).status;
    expect(await ask()).toBe(200);
    /** The service looks at the file again when its last look is a second old, by its own clock. */
    const expectAfterASecond = async (status: number) => {
      await delay(1010);
      expect(await ask()).toBe(status);
    };
    await runInProcess(["account", "disable", "alice", "--file", file]);
    await expectAfterASecond(401);
    await runInProcess(["account", "enable", "alice", "--file", file]);
    await expectAfterASecond(200);
    await run(["revoke", stdout.slice(3, 19)]);
    await expectAfterASecond(401);
  });

  it("is kept by the page of a running service too", async () => {
    const { config, read } = await open();
    const { url } = await startServer(["serve", "--config", config]);
    const headers = {
      authorization: `Basic ${btoa("bob:secret of bob")}`,
      accept: "application/json",
      "content-type": "application/json",
    };
    const keys = `${url}home/__svc__/keys`;
    const made = await fetch(keys, { method: "POST", headers, body: '{"label":"phone"}' });
    const { results } = (await made.json()) as { results: { id: string; key: string }[] };
    const [{ id, key } = { id: "", key: "" }] = results;
    expect((await read()).accounts[1].keys).toMatchObject([{ id, label: "phone", sha256: sha256Hex(key) }]);
    const authorization = `Bearer ${key}`;
    expect((await fetch(`${url}home/`, { headers: { authorization, accept: "application/json" } })).status).toBe(200);
    expect((await fetch(`${keys}/${id}`, { method: "DELETE", headers })).status).toBe(204);
    expect((await fetch(`${url}home/`, { headers: { authorization, accept: "application/json" } })).status).toBe(401);
    expect((await read()).accounts[1]).toEqual(ACCOUNTS.accounts[1]);
  });
});
