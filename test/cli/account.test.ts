import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { createPasswordHasher } from "../../src/auth/passwords/hash.ts";
import { ensureBuilt, makeFolder, startServer } from "../support/built.ts";
import { runInProcess } from "../support/run-in-process.ts";
import { noteKeys } from "../support/secrets/secrets.ts";
import { toRecoveryDigest } from "../support/secrets/totp.ts";
import { HAS_TERMINAL, runOnTerminal } from "./terminal.ts";

beforeAll(ensureBuilt);

/** A little more than a second: timers may be early by a millisecond. */
const A_SECOND = 1010;

/** With a member that is refused there. */
const TOTP = { secret: "A".repeat(32), "x-a": 1 };

async function open(content?: string) {
  const file = join(await makeFolder(), "accounts.json");
  if (content !== undefined) await writeFile(file, content);
  return {
    file,
    run: (args: readonly string[], input = "") => runInProcess(["account", ...args, "--file", file], input),
    read: () => readFile(file, "utf8"),
  };
}

/** The answer to a request with Basic. */
function ask(url: string, name: string, password: string): Promise<Response> {
  const authorization = `Basic ${btoa(`${name}:${password}`)}`;
  return fetch(`${url}home/`, { headers: { authorization, accept: "application/json" } });
}

/**
 * Asks once, a second after a change of the file. The service looks at the file again when its last look is a second
 * old, by its own clock. So the answer is that of the changed file, however long it takes.
 */
async function expectAfterASecond(status: number, send: () => Promise<Response>): Promise<void> {
  await delay(A_SECOND);
  const response = await send();
  await response.body?.cancel();
  expect(response.status).toBe(status);
}

describe("fileferry account", () => {
  it("makes a file of accounts that only its owner reads, and changes it", async () => {
    const { file, run, read } = await open();
    const settings = [
      "--group",
      "staff",
      "--home",
      "/team",
      "--permission",
      "allow-read",
      "--permission",
      "allow-list",
    ];
    expect(await run(["add", "alice", ...settings], "secret\n")).toEqual({
      status: 0,
      stdout: `add: alice, in the new file ${file}\n`,
      stderr: "",
    });
    expect(await run(["add", "bob", "--email", "bob@files.example"], "geheim\n")).toEqual({
      status: 0,
      stdout: "add: bob\n",
      stderr: "",
    });
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const hash = expect.stringMatching(/^\$scrypt\$/);
    expect(JSON.parse(await read())).toEqual({
      accounts: [
        {
          ...{ username: "alice", password: hash, group: "staff", home_folder_path: "/team" },
          permissions: [["allow-read", "allow-list"]],
        },
        { username: "bob", password: hash, email: "bob@files.example" },
      ],
    });
    expect(await run(["disable", "alice"])).toMatchObject({ status: 0 });
    expect((await run(["list"])).stdout).toBe("alice  group staff  home /team  disabled\nbob\n");
    const listed = (await run(["list", "--json"])).stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(listed[1]).toEqual({ username: "bob", email: "bob@files.example" });
    expect(await run(["enable", "alice"])).toMatchObject({ status: 0 });
    expect(await run(["remove", "bob"])).toMatchObject({ status: 0 });
    expect((await run(["list"])).stdout).toBe("alice  group staff  home /team\n");
  });

  it.runIf(HAS_TERMINAL)("asks for a password on a terminal twice and echoes neither", async () => {
    const { file, read } = await open();
    for (const [verb, password, note] of [
      ["add", "sekret", `, in the new file ${file}`],
      ["set-password", "geheim", ""],
    ] as const) {
      const { status, shown } = await runOnTerminal(["account", verb, "alice", "--file", file], password);
      const prompts = "Password: \r\nRepeat the password: \r\n";
      expect({ status, shown }).toEqual({ status: 0, shown: `${prompts}${verb}: alice${note}\r\n` });
      const [account] = JSON.parse(await read()).accounts;
      expect(await createPasswordHasher().verify(password, account.password)).toBe(true);
    }
  });

  it("adds no account whose home would be the folder of the trash and the versions", async () => {
    const { run } = await open();
    const stderr = "error: an account named __svc__ needs --home\n";
    expect(await run(["add", "__svc__"], "secret\n")).toEqual({ status: 2, stdout: "", stderr });
    const reserved = { status: 2, stdout: "", stderr: "error: --home: __svc__ is reserved\n" };
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the configuration spells it this way.
    expect(await run(["add", "__svc__", "--home", "/${USER}/files"], "secret\n")).toEqual(reserved);
    expect(await run(["add", "bob", "--home", "//__svc__/trash"], "secret\n")).toEqual(reserved);
    expect(await run(["add", "__svc__", "--home", "/others"], "secret\n")).toMatchObject({ status: 0 });
  });

  it("keeps the members and the indentation of the other accounts", async () => {
    const { run, read } = await open(
      '{\n    "accounts": [\n        { "password": "x", "username": "alice", "uuid": "1" }\n    ]\n}\n',
    );
    await run(["add", "bob"], "secret\n");
    await run(["remove", "bob"]);
    expect(await read()).toBe(
      '{\n    "accounts": [\n        {\n            "password": "x",\n            "username": "alice",\n            "uuid": "1"\n        }\n    ]\n}\n',
    );
  });

  it("keeps members that begin with x-, which the service ignores", async () => {
    const alice = { "x-room": { floor: 2 }, username: "alice", password: "secret of alice", "x-note": "from HR" };
    const { file, run, read } = await open(JSON.stringify({ "x-owner": "IT", accounts: [alice], "x-1": null }));
    expect(await run(["add", "bob"], "geheim\n")).toMatchObject({ status: 0, stderr: "" });
    expect(await run(["set-password", "alice"], "another\n")).toMatchObject({ status: 0, stderr: "" });
    const changed = JSON.parse(await read());
    const [{ password, ...members }, bob] = changed.accounts;
    expect([password, bob.username]).toEqual([expect.stringMatching(/^\$scrypt\$/), "bob"]);
    expect(members).toEqual({ "x-room": { floor: 2 }, username: "alice", "x-note": "from HR" });
    expect(Object.keys(changed)).toEqual(["x-owner", "accounts", "x-1"]);
    expect(JSON.parse((await run(["list", "--json"])).stdout.split("\n", 1)[0] ?? "")).toEqual(members);

    const config = join(await makeFolder(), "fileferry.json");
    const authentication = [{ type: "accounts", file }];
    await writeFile(config, JSON.stringify({ listen: { port: 0 }, storage: { type: "memory" }, authentication }));
    expect(await runInProcess(["check", "--config", config])).toMatchObject({ status: 0 });
    const { url } = await startServer(["serve", "--config", config]);
    expect((await ask(url, "alice", "another")).status).toBe(200);
  });

  it("keeps members that the service does not know, in their order, and warns of them", async () => {
    const alice = `"x":1,"disabled":false,"keys":[],"pasword":"y","username":"alice","__proto__":{"x":[1]},"password":"z"`;
    const content = (members: string) => `{"groups":{},"accounts":[{${members}}],"x-1":null}\n`;
    const { file, run, read } = await open(content(alice));
    const warning = (others: number) =>
      `warning: ${file}: groups: unknown key, and ${others} more. The service reads no change of this file until it is removed.\n`;
    const warned = { status: 0, stderr: warning(3) };
    expect(await run(["list"])).toMatchObject({ ...warned, stdout: "alice\n" });
    // What is not known may be a secret.
    expect(await run(["list", "--json"])).toMatchObject({
      ...warned,
      stdout: '{"disabled":false,"username":"alice"}\n',
    });
    expect(await run(["disable", "alice"])).toMatchObject(warned);
    expect(await read()).toBe(content(alice.replace("false", "true")));
    expect(await run(["enable", "alice"])).toMatchObject(warned);
    const enabled = alice.replace('"disabled":false,', "");
    expect(await read()).toBe(content(enabled));
    expect(await run(["set-totp", "alice"])).toMatchObject(warned);
    expect(await run(["remove-totp", "alice"])).toMatchObject(warned);
    expect(await read()).toBe(content(enabled));
    const key = async (...args: string[]) => runInProcess(["key", ...args, "--file", file]);
    const created = await key("create", "--account", "alice", "--json");
    expect(created).toMatchObject(warned);
    const { id } = JSON.parse(created.stdout);
    expect(await read()).toMatch(content(enabled).split('"keys":[')[0] + `"keys":[{"id":"${id}"`);
    expect(await key("list")).toMatchObject({ ...warned, stdout: expect.stringContaining(id) });
    expect(await key("revoke", id)).toMatchObject(warned);
    expect(await read()).toBe(content(enabled.replace('"keys":[],', "")));
    expect(await run(["set-password", "alice"], "secret\n")).toMatchObject(warned);
    expect(await read()).toMatch(/"__proto__":\{"x":\[1\]\},"password":"\$scrypt\$/);
    expect(await run(["add", "bob"], "secret\n")).toMatchObject(warned);
    const refused = await run(["add", "eve", "--home", "eve"], "secret\n");
    expect(refused.stderr).toMatch(
      /accounts\[2\]\.home_folder_path: must be an abs[^\n]*; groups: unknown key, and 3 more\n$/,
    );
    expect(await run(["remove", "alice"])).toMatchObject({ status: 0, stderr: warning(0).replace(", and 0 more", "") });

    const config = join(await makeFolder(), "fileferry.json");
    const authentication = [{ type: "accounts", file }];
    await writeFile(config, JSON.stringify({ storage: { type: "memory" }, authentication }));
    const checked = await runInProcess(["check", "--config", config]);
    expect(checked).toMatchObject({ status: 2, stdout: expect.stringContaining("groups: unknown key") });
  });

  it.each([
    [
      "one-time passwords",
      { accounts: [{ username: "a", password: "x", totp: TOTP }] },
      "accounts[0].totp.x-a: unknown",
    ],
    [
      "an account that lacks the right one",
      { accounts: [{ username: "alice", pasword: "y" }] },
      "accounts[0].password: is missing; accounts[0].pasword: unknown key",
    ],
    ["a file that lacks the right one", { acounts: [] }, "accounts: is missing; acounts: unknown key"],
  ])("refuses another unknown member of %s", async (_place, accounts, problem) => {
    const content = JSON.stringify(accounts);
    const { run, read } = await open(content);
    const refused = await run(["add", "bob"], "secret\n");
    expect(refused).toMatchObject({ status: 2, stderr: expect.stringContaining(`accounts.json: ${problem}`) });
    expect(await read()).toBe(content);
  });

  it.each([
    ["a name that is taken", ["add", "alice"], 1, "error: there is an account alice already\n"],
    ["a name that is unknown", ["remove", "al\u0007ice"], 1, "error: there is no account al\\x07ice\n"],
    ["no password", ["add", "bob"], 2, /^error: [^\n]*password[^\n]*\n$/],
    ["a home that is no path", ["add", "bob", "--home", "../x"], 2, /accounts\[1\]\.home_folder_path: must be an abs/],
    ["an unknown permission", ["add", "bob", "--permission", "allow-all"], 2, /accounts\[1\]\.permissions/],
  ] as const)("refuses %s, and changes nothing", async (_case, args, status, stderr) => {
    const content = '{ "accounts": [{ "username": "alice", "password": "x" }] }';
    const { run, read } = await open(content);
    const result = await run(args, args.length > 2 ? "secret\n" : "");
    expect(result.status).toBe(status);
    if (typeof stderr === "string") expect(result.stderr).toBe(stderr);
    else expect(result.stderr).toMatch(stderr);
    expect(await read()).toBe(content);
  });

  it("says that an account has no password", async () => {
    const { run } = await open('{ "accounts": [{ "username": "alice" }] }');
    expect((await run(["list"])).stderr).toMatch(/^error: \S+: accounts\[0\]\.password: is missing\n$/);
  });

  it("refuses a file that is none, without the password in it, and makes none for other commands", async () => {
    const broken = await open('{ "accounts": [{ "username": "alice", "password": "top secret" }, ');
    const refused = await broken.run(["disable", "alice"]);
    expect(refused).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/accounts\.json: line 1, column 67: is not valid JSON/),
    });
    expect(refused.stderr).not.toContain("top secret");
    const missing = await open();
    expect(await missing.run(["list"])).toMatchObject({ status: 1, stderr: expect.stringContaining("does not exist") });
    await expect(missing.read()).rejects.toThrow("ENOENT");
    const refusedNew = await missing.run(["add", "", "--home", "/x"], "secret\n");
    expect(refusedNew.status).toBe(2);
    await expect(missing.read()).rejects.toThrow("ENOENT");
  });

  it("gives an account one-time passwords, shows their secrets once, and takes them away", async () => {
    const { run, read } = await open('{ "accounts": [{ "username": "alice", "password": "x" }] }');
    const { status, stdout, stderr } = await run(["set-totp", "alice", "--issuer", "Our files"]);
    expect([status, stderr]).toEqual([0, ""]);
    const lines = stdout.trimEnd().split("\n");
    expect(lines[0]).toBe("set-totp: alice");
    const url = new URL(lines[1] ?? "");
    expect(url.searchParams.get("issuer")).toBe("Our files");
    expect(lines[2]).toMatch(/^[\u2580-\u259f ]+$/);
    expect(lines.at(-11)).toBe("Recovery codes, each of which works once:");
    const codes = lines.slice(-10);
    const secret = url.searchParams.get("secret") ?? "";
    const [account] = JSON.parse(await read()).accounts;
    expect(account).toEqual({
      ...{ username: "alice", password: "x" },
      totp: { secret, recovery_codes: codes.map(toRecoveryDigest) },
    });

    const listed = await run(["list"]);
    expect(listed.stdout).toBe("alice  totp\n");
    const listedJson = await run(["list", "--json"]);
    expect(JSON.parse(listedJson.stdout)).toEqual({ username: "alice", totp: true });

    const again = await run(["set-totp", "alice"]);
    expect(again.stdout).not.toContain(secret);
    expect(await read()).not.toContain(secret);
    expect(await run(["remove-totp", "alice"])).toEqual({ status: 0, stdout: "remove-totp: alice\n", stderr: "" });
    expect(JSON.parse(await read())).toEqual({ accounts: [{ username: "alice", password: "x" }] });
  });

  it("makes no one-time passwords for an account that is not there", async () => {
    const { run } = await open('{ "accounts": [] }');
    expect(await run(["set-totp", "bob"])).toEqual({
      status: 1,
      stdout: "",
      stderr: "error: there is no account bob\n",
    });
  });

  it("counts in a running service within a second: a new account, another password, one-time passwords, a disabled account", async () => {
    const { file, run } = await open();
    await run(["add", "alice"], "secret\n");
    const config = join(await makeFolder(), "fileferry.json");
    const authentication = [{ type: "accounts", file }];
    const storage = { type: "disk", root: await makeFolder() };
    await writeFile(config, JSON.stringify({ listen: { port: 0 }, storage, authentication, basicCacheSeconds: 0 }));
    const { url } = await startServer(["serve", "--config", config]);
    expect((await ask(url, "alice", "secret")).status).toBe(200);
    await run(["add", "bob"], "geheim\n");
    await expectAfterASecond(200, () => ask(url, "bob", "geheim"));
    await run(["set-password", "alice"], "another\n");
    await expectAfterASecond(200, () => ask(url, "alice", "another"));
    expect((await ask(url, "alice", "secret")).status).toBe(401);
    await run(["set-totp", "alice"]);
    await expectAfterASecond(401, () => ask(url, "alice", "another"));
    expect((await ask(url, "alice", "another")).headers.get("error-code")).toBe("key-required");
    await run(["disable", "bob"]);
    await expectAfterASecond(401, () => ask(url, "bob", "geheim"));
    await run(["enable", "bob"]);
    await expectAfterASecond(200, () => ask(url, "bob", "geheim"));
  });

  it("ends the access of an account that is removed within a second, with its session and its key", async () => {
    const { file, run } = await open();
    await run(["add", "alice"], "secret\n");
    await run(["add", "bob"], "geheim\n");
    const made = await runInProcess(["key", "create", "--account", "bob", "--file", file]);
    noteKeys(made.stdout);
    const config = join(await makeFolder(), "fileferry.json");
    const authentication = [{ type: "accounts", file }];
    await writeFile(config, JSON.stringify({ listen: { port: 0 }, storage: { type: "memory" }, authentication }));
    const { url } = await startServer(["serve", "--config", config]);
    const body = new URLSearchParams({ username: "bob", password: "geheim" });
    const login = await fetch(`${url}__svc__/login`, { method: "POST", body, redirect: "manual" });
    const cookie = login.headers.get("set-cookie")?.split(";", 1)[0] ?? "";
    const accept = "application/json";
    const statuses = async () => {
      const answers = [
        await ask(url, "bob", "geheim"),
        await fetch(`${url}home/`, { headers: { cookie, accept } }),
        await fetch(`${url}home/`, { headers: { authorization: `Bearer ${made.stdout.trim()}`, accept } }),
        await ask(url, "alice", "secret"),
      ];
      for (const answer of answers) await answer.body?.cancel();
      return answers.map(({ status }) => status);
    };
    expect(await statuses()).toEqual([200, 200, 200, 200]);
    expect(await run(["remove", "bob"])).toMatchObject({ status: 0, stdout: "remove: bob\n" });
    await delay(A_SECOND);
    expect(await statuses()).toEqual([401, 401, 401, 200]);
  });
});
