import { execFileSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { readConfig } from "../../src/cli/config/read/config-file.ts";
import { findUnknownVariables } from "../../src/cli/environment.ts";
import { createProgram } from "../../src/cli/program.ts";
import { ensureBuilt, makeFolder, startServer } from "../support/built.ts";
import { hasRedis, redisNote, startRedis } from "../support/redis.ts";
import { runInProcess } from "../support/run-in-process.ts";
import { ALICE, configure } from "./configure.ts";

beforeAll(ensureBuilt);

function setEnvironment(name: string, value: string): void {
  process.env[name] = value;
  onTestFinished(() => {
    delete process.env[name];
  });
}

async function save(name: string, text: string): Promise<string> {
  const file = join(await makeFolder(), name);
  await writeFile(file, text);
  return file;
}

const problemOf = async (file: string): Promise<string> =>
  readConfig(file).then(
    () => "none",
    (error: Error) => error.message.replaceAll(dirname(file), "."),
  );

describe("a configuration", () => {
  it.each(["fileferry.yaml", "fileferry.yml"])("may be YAML: %s", async (name) => {
    const file = await save(
      name,
      `# of one team
storage: { type: disk, root: ./files }
authentication:
  - type: accounts
    accounts:
      - username: alice
        password: "no"
        home_folder_path: /\${USER}
trash:
`.replace("trash:\n", "trash: {}\n"),
    );
    expect(await readConfig(file)).toEqual({
      storage: { type: "disk", root: "./files" },
      authentication: [
        { type: "accounts", accounts: [{ username: "alice", password: "no", home_folder_path: `/$\{USER}` }] },
      ],
      trash: {},
    });
  });

  it.each([
    ["a: [secret\nb: 1", /^\.\/x\.yaml: line 2, column 1: is not valid YAML: [a-z ]+$/],
    ["a: secret\na: secret", /line 2.* is not valid YAML: .*duplicat/],
    ["- secret", /expected object/],
    ["a: *secret", /line 1.* is not valid YAML: unidentified alias/],
    ["a: &secret [*secret]", /^\.\/x\.yaml: has more than 100000 values, with those of aliases$/],
    [
      ["secret", ..."bcdefgh"]
        .map((name, at, all) => `${name}: &${name} [${`*${all[at - 1]},`.repeat(at && 9)}1]`)
        .join("\n"),
      /has more than 100000 values/,
    ],
  ])("says where YAML is wrong, and does not quote it: %j", async (text, problem) => {
    const found = await problemOf(await save("x.yaml", text));
    expect(found).toMatch(problem);
    expect(found).not.toContain("secret");
  });

  it("takes secrets from the environment and from files", async () => {
    setEnvironment("TEST_PASSWORD", "of alice");
    const file = await configure({
      authentication: [
        {
          type: "accounts",
          accounts: [
            { username: "alice", password: `secret $\{TEST_PASSWORD}` },
            { username: "bob", password: { file: "bob.txt" } },
            { username: "carol", password: `a $$\{b}` },
          ],
        },
      ],
      links: { secret: { file: "links.txt" } },
    });
    await writeFile(join(file, "../bob.txt"), "secret of bob\n");
    await writeFile(join(file, "../links.txt"), "x".repeat(40));
    const { authentication, links } = await readConfig(file);
    const [first] = authentication;
    expect(first?.type === "accounts" && first.accounts?.map(({ password }) => password)).toEqual([
      "secret of alice",
      "secret of bob",
      `a $\{b}`,
    ]);
    expect(links?.secret).toBe("x".repeat(40));
  });

  it("names a key next to that of a secret's file", async () => {
    const password = { file: "bob.txt", x: 1 };
    const accounts = [{ username: "bob", password }];
    const file = await configure({ authentication: [{ type: "accounts", accounts }] });
    await writeFile(join(file, "../bob.txt"), "secret of bob\n");
    await expect(readConfig(file)).rejects.toThrow(`${file}: authentication[0].accounts[0].password.x: unknown key`);
  });

  it("may disable an account", async () => {
    const accounts = [{ username: "alice", password: "secret of alice", disabled: true }];
    const file = await configure({ authentication: [{ type: "accounts", accounts }] });
    expect(await readConfig(file)).toMatchObject({ authentication: [{ accounts }] });
  });

  it("leaves what operators name alone, also if a name is that of a secret", async () => {
    setEnvironment("USER", "root");
    const virtual_folders = [["/shared", `/store/$\{USER}`]];
    const file = await configure({
      groups: { store: { virtual_folders }, password: { virtual_folders } },
      triggers: { secret: { label: `$\{USER}` } },
    });
    expect(await readConfig(file)).toMatchObject({
      groups: { store: { virtual_folders }, password: { virtual_folders } },
      triggers: { secret: { label: `$\{USER}` } },
    });
  });

  it("refuses secrets that are empty or no text, and a pipe without waiting for it", async () => {
    setEnvironment("TEST_EMPTY", "");
    const webhook = (secret: unknown) => ({ url: "https://a.example", secret });
    const files = ["empty", "binary", "pipe"].map((name) => webhook({ file: name }));
    const file = await configure({ events: { webhooks: [webhook(`$\{TEST_EMPTY}`), ...files] } });
    const folder = dirname(file);
    await writeFile(join(folder, "empty"), "\n");
    await writeFile(join(folder, "binary"), new Uint8Array([0x80, 0x81]));
    execFileSync("mkfifo", [join(folder, "pipe")]);
    expect((await problemOf(file)).split("\n").sort()).toEqual([
      "./fileferry.json: events.webhooks[0].secret: TEST_EMPTY of the environment is empty",
      "./fileferry.json: events.webhooks[1].secret.file: is empty",
      "./fileferry.json: events.webhooks[2].secret.file: is not valid UTF-8",
      "./fileferry.json: events.webhooks[3].secret.file: is not a regular file",
    ]);
  });

  it("names the key of a secret that is missing, and never a value", async () => {
    setEnvironment("TEST_SECRET", "short");
    const file = await configure({
      session: { store: `redis://:$\{TEST_UNSET}@127.0.0.1` },
      links: { secret: `$\{TEST_SECRET}` },
      events: { webhooks: [{ url: "https://a.example", secret: { file: "missing" } }] },
    });
    expect((await problemOf(file)).split("\n")).toEqual([
      "./fileferry.json: session.store: the environment does not have TEST_UNSET",
      "./fileferry.json: events.webhooks[0].secret.file: does not exist",
    ]);
    const other = await problemOf(await configure({ links: { secret: `$\{TEST_SECRET}` } }));
    expect(other).toMatch(/links\.secret/);
    expect(other).not.toContain("short");
  });
});

describe("the environment", () => {
  it("sets flags, which win", async () => {
    const config = await configure({ storage: { type: "memory" }, listen: { port: 8080 } });
    setEnvironment("FILEFERRY_CONFIG", config);
    expect((await runInProcess(["check"])).stdout).toContain("ok: listen: http://127.0.0.1:8080/");
    expect((await runInProcess(["check", "--config", "nowhere"])).stdout).toContain("nowhere: cannot be read");
    setEnvironment("FILEFERRY_PORT", "99999");
    const { status, stderr } = await runInProcess(["serve"]);
    expect([status, stderr]).toEqual([2, expect.stringContaining("expected 0 to 65535")]);
  });

  it("leaves a flag off that is 0 or empty", async () => {
    setEnvironment("FILEFERRY_LINKS", "0");
    setEnvironment("FILEFERRY_HOST", "");
    const config = await configure({ storage: { type: "disk", root: "missing" } });
    const { stderr } = await runInProcess(["serve", "--config", config]);
    expect(stderr).toContain("storage.root: does not exist");
    setEnvironment("FILEFERRY_LINKS", "1");
    setEnvironment("FILEFERRY_CONFIG", config);
    expect((await runInProcess(["serve"])).stderr).toBe(
      "error: FILEFERRY_CONFIG and FILEFERRY_LINKS cannot be used together\n",
    );
  });

  it("sets flags that a flag or an argument of the command line excludes: it wins", async () => {
    const config = await configure({ storage: { type: "disk", root: "missing" } });
    const problem = `${config}: storage.root: does not exist`;
    for (const [variable, value] of [
      ["FILEFERRY_ACCOUNT", "alice:secret of alice"],
      ["FILEFERRY_FOLDER", dirname(config)],
      ["FILEFERRY_LINKS", "1"],
    ] as const) {
      setEnvironment(variable, value);
      expect((await runInProcess(["serve", "--config", config])).stderr).toContain(problem);
    }
    setEnvironment("FILEFERRY_CONFIG", config);
    const missing = join(dirname(config), "nowhere");
    for (const account of [[], ["--account", "bob:secret of bob"]]) {
      const { stderr } = await runInProcess(["serve", missing, ...account]);
      expect([stderr.includes("nowhere: does not exist"), stderr.includes(config)]).toEqual([true, false]);
    }
    const file = await save("accounts.json", JSON.stringify({ accounts: [] }));
    expect(await runInProcess(["key", "list", "--file", file])).toEqual({ status: 0, stdout: "", stderr: "" });
  });

  it.each([
    ["FILEFERRY_CONFIG", "FILEFERRY_ACCOUNT", ["serve"]],
    ["FILEFERRY_CONFIG", "FILEFERRY_FOLDER", ["serve"]],
    ["FILEFERRY_FILE", "FILEFERRY_CONFIG", ["key", "list"]],
  ])("names the variables %s and %s, which exclude each other", async (one, other, args) => {
    for (const variable of [one, other]) setEnvironment(variable, "a:b");
    const stderr = `error: ${one} and ${other} cannot be used together\n`;
    expect(await runInProcess(args)).toEqual({ status: 2, stdout: "", stderr });
  });

  it("has the account of serve, whose password no other command uses or prints", async () => {
    setEnvironment("FILEFERRY_ACCOUNT", "alice:secret of alice");
    const config = await configure({ storage: { type: "disk", root: "." } });
    const { status, stderr } = await runInProcess(["link", "list", "--config", config]);
    expect([status, stderr]).toEqual([2, "error: required option '--account <name>' not specified\n"]);
    const served = await runInProcess(["serve", join(dirname(config), "missing")]);
    expect([served.status, served.stderr]).toEqual([2, expect.stringContaining("missing: does not exist")]);
  });

  it("sets a flag that may be repeated, which replaces it", async () => {
    const folder = await makeFolder();
    const by = ["env", "FILEFERRY_ACCOUNT=alice:secret of alice"];
    const statusesOf = async (flags: readonly string[]) => {
      const { url } = await startServer(["serve", folder, "--port", "0", "--quiet", ...flags], by);
      const statuses = ["alice:secret of alice", "bob:secret of bob"].map(async (credentials) => {
        const headers = { authorization: `Basic ${btoa(credentials)}`, accept: "application/json" };
        return (await fetch(`${url}home/`, { headers })).status;
      });
      return Promise.all(statuses);
    };
    expect(await statusesOf([])).toEqual([200, 401]);
    expect(await statusesOf(["--account", "bob:secret of bob"])).toEqual([401, 200]);

    setEnvironment("FILEFERRY_PERMISSION", "allow-read");
    const file = join(folder, "accounts.json");
    const add = (...args: string[]) => runInProcess(["account", "add", "--file", file, ...args], "secret\n");
    expect([(await add("alice")).status, (await add("bob", "--permission", "allow-list")).status]).toEqual([0, 0]);
    const { accounts } = JSON.parse(await readFile(file, "utf8"));
    expect(accounts.map((account: { permissions: unknown }) => account.permissions)).toEqual([
      [["allow-read"]],
      [["allow-list"]],
    ]);
  });

  it("sets the number of workers, which must be one", async () => {
    setEnvironment("FILEFERRY_WORKERS", "many");
    const config = await configure({ storage: { type: "memory" } });
    const refused = await runInProcess(["serve", "--config", config]);
    expect([refused.status, refused.stderr]).toEqual([2, expect.stringContaining("expected 1 to 999, or auto")]);
  });

  it.skipIf(!hasRedis)(`has as many processes serve as FILEFERRY_WORKERS says${redisNote}`, async () => {
    const redis = await startRedis();
    onTestFinished(redis.stop);
    const accounts = [{ username: "alice", password: "secret of alice" }];
    const file = await save("accounts.json", JSON.stringify({ accounts }));
    const authentication = [{ type: "accounts", file }];
    const storage = { type: "disk", root: await makeFolder() };
    const config = await configure({ storage, session: { store: redis.url }, authentication });
    const run = await startServer(["serve", "--config", config], ["env", "FILEFERRY_WORKERS=2"]);
    expect((await fetch(`${run.url}home/`, { headers: ALICE })).status).toBe(200);
    expect(run.stderr().split("The accounts file was read.").length - 1).toBe(2);
    run.child.kill("SIGTERM");
    expect(await run.ended).toBe(0);
  });

  it("has variables of services in Docker and Kubernetes, which are not meant for the command", async () => {
    setEnvironment("FILEFERRY_PORT", "tcp://10.0.0.1:80");
    setEnvironment("FILEFERRY_SERVICE_HOST", "10.0.0.1");
    setEnvironment("FILEFERRY_PORT_80_TCP_PORT", "80");
    const config = await configure({ storage: { type: "disk", root: "missing" } });
    expect((await runInProcess(["serve", "--config", config])).stderr).toContain("storage.root: does not exist");
    expect(
      findUnknownVariables(
        createProgram(() => undefined),
        process.env,
      ),
    ).toEqual([]);
  });

  it("may have mistyped variables, which are found", async () => {
    const known = ["FILEFERRY_LOG_FORMAT", "FILEFERRY_FOLDER", "FILEFERRY_LINKS_SECRET", "FILEFERRY_DRY_RUN", "OTHER"];
    const environment = Object.fromEntries([...known, "FILEFERRY_LOGFORMAT"].map((name) => [name, "1"]));
    const program = createProgram(() => undefined);
    expect(findUnknownVariables(program, environment)).toEqual(["FILEFERRY_LOGFORMAT"]);
  });
});

describe("an unknown option", () => {
  it("is named without its value", async () => {
    const { status, stderr } = await runInProcess(["serve", "--acount=alice:secret of alice"]);
    expect([status, stderr.split("\n")[0]]).toEqual([2, "error: unknown option '--acount'"]);
    expect(stderr).not.toContain("secret of alice");
  });
});
