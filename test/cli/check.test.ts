import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeFolder } from "../support/built.ts";
import { makeCertificate } from "../support/certificates.ts";
import { runInProcess } from "../support/run-in-process.ts";
import { configure } from "./configure.ts";

const hasSqlite = await import("node:" + "sqlite").then(
  () => true,
  () => false,
);

const check = (config: string) => runInProcess(["check", "--config", config]);

describe("fileferry check", () => {
  it("says what a configuration would serve, and opens nothing", async () => {
    const root = await makeFolder();
    const file = join(root, "accounts.json");
    await writeFile(file, JSON.stringify({ accounts: [{ username: "bob", password: "secret of bob" }] }));
    const config = await configure({
      listen: { port: 8080 },
      basePath: "/files",
      publicOrigin: "https://files.example",
      clientForwardedHeader: "X-Forwarded-For",
      storage: { type: "disk", root },
      groups: { staff: { virtual_folders: [["/pool", "/pool"]] } },
      authentication: [
        { type: "accounts", file },
        { type: "http", url: "https://auth.example/login?key=secret" },
      ],
      session: { store: "redis://:secret@redis.example:6379/1" },
      webdav: {},
      offload: { type: "nginx", prefix: "/protected/" },
      events: { file: "events.ndjson" },
      metrics: { port: 9464 },
    });
    const { status, stdout } = await check(config);
    expect(stdout.split("\n")).toEqual([
      "ok: listen: http://127.0.0.1:8080/files/",
      "ok: publicOrigin: https://files.example/files/",
      "ok: metrics: http://127.0.0.1:9464/metrics, and /ready",
      `ok: storage: disk, ${root}, durability fsync, links hidden`,
      `ok: authentication[0]: 1 account of ${file}`,
      "ok: authentication[1]: http, auth.example",
      "ok: groups: staff",
      'ok: folders: the home of each account, and ["/pool","/pool"]',
      "ok: stores: session.store: Redis at redis.example:6379",
      "ok: features: webdav, resumable uploads, offload by nginx",
      "ok: log: text, on stderr",
      `ok: events.file: ${join(config, "../events.ndjson")}`,
      "",
    ]);
    expect(status).toBe(0);
  });

  it("says what everyone may do without a login, and warns if that is more than reading", async () => {
    const storage = { type: "memory" };
    const open = { home_folder_path: "/public", permissions: [["allow-read"], ["/in", "allow-write"]] };
    const shared = { home_folder_path: "/public", virtual_folders: [["/x", "/shared"]] };
    for (const [anonymous, line] of [
      [{}, "ok: anonymous: /anonymous without a login: read, list, traverse"],
      [open, "warning: anonymous: /public without a login: read, write"],
      [shared, "ok: anonymous: /public, /shared without a login: read, list, traverse"],
    ] as const) {
      const { status, stdout } = await check(await configure({ storage, anonymous }));
      expect([status, stdout]).toEqual([0, expect.stringContaining(line)]);
    }
  });

  it("warns if the home of an account can be opened without a login", async () => {
    const file = join(await makeFolder(), "accounts.json");
    const account = (username: string, home: string) => ({ username, password: "secret", home_folder_path: home });
    await writeFile(file, JSON.stringify({ accounts: [account("bob", "/staff/bob")] }));
    const authentication = [
      { type: "accounts", accounts: [account("alice", "/homes/alice"), account("eve", "/public")] },
      { type: "accounts", file },
    ];
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how groups spell it.
    const groups = { guests: { home_folder_path: "/guests" }, visitors: { home_folder_path: "${SHARED}/visitors" } };
    const at = (home: string, permissions?: readonly string[][]) => ({
      home_folder_path: home,
      ...(permissions && { permissions }),
    });
    const shows = (folder: string) => ({ ...at("/open"), virtual_folders: [["/x", folder]] });
    const read = ["allow-read", "allow-list"];
    for (const [anonymous, isWarned] of [
      [at("/"), true],
      [at("/homes"), true],
      [at("/staff"), true],
      [at("/guests"), true],
      [shows("/homes"), true],
      [at("/", [read, ["/homes", "deny-full-control"]]), true],
      // An account has the same home.
      [at("/homes/alice"), true],
      [at("/staff/bob"), true],
      [at("/staff/bob", [[], ["/**", ...read]]), true],
      [at("/public"), true],
      [shows("/public"), true],
      [at("/visitors"), true],
      // Nothing but the home of the account without a login.
      [at("/open"), false],
      [{ group: "visitors" }, false],
      [shows("/shared"), false],
      [at("/", [[], ["/open", ...read], ["/open/**", ...read]]), false],
      [{ ...shows("/homes"), permissions: [read, ["/x/**", "deny-full-control"]] }, false],
    ] as const) {
      const { stdout } = await check(
        await configure({ storage: { type: "memory" }, authentication, groups, anonymous }),
      );
      const text = "warning: anonymous: homes of other accounts can be opened without a login";
      expect([anonymous, stdout.includes(text)]).toEqual([anonymous, isWarned]);
    }
  });

  it("describes each rule of retention, and warns if its folder contains homes of accounts", async () => {
    const storage = { type: "memory" };
    const groups = { staff: { home_folder_path: "/staff" } };
    const retention = ["/inbox", "/alice", "/staff", "/"].map((path) => ({ path, seconds: 60 }));
    const { status, stdout } = await check(await configure({ storage, groups, retention }));
    const advice = "choose a folder that contains no home, unless the rule is for all of them";
    expect([status, stdout.split("\n").filter((line) => line.includes(" retention: "))]).toEqual([
      0,
      [
        "ok: retention: /inbox, files older than 60 seconds are removed",
        // This folder itself may be meant, such as one that a scanner writes to.
        "ok: retention: /alice, files older than 60 seconds are removed",
        `warning: retention: /staff, files older than 60 seconds are removed, also in homes of accounts: ${advice}`,
        `warning: retention: /, files older than 60 seconds are removed, also in homes of accounts: ${advice}`,
      ],
    ]);
    const kept = await check(await configure({ storage, retention: [{ path: "/in", seconds: 60 }], trash: {} }));
    expect(kept.stdout).toContain("ok: retention: /in, files older than 60 seconds are moved to the trash\n");
  });

  it("names a port that the service and its metrics would both listen on", async () => {
    const storage = { type: "memory" };
    const metrics = { port: 8080 };
    const taken = await configure({ storage, metrics, listen: { port: 8080 } });
    for (const command of ["check", "serve"]) {
      const { status, stdout, stderr } = await runInProcess([command, "--config", taken]);
      expect([status, stdout + stderr]).toEqual([2, expect.stringContaining("metrics.port: must be another port")]);
    }
    const statusOf = async (own: string, host: string): Promise<number> => {
      const both = { metrics: { ...metrics, host: own }, listen: { host, port: 8080 } };
      return (await check(await configure({ storage, ...both }))).status;
    };
    for (const [own, host, status] of [
      ["127.0.0.2", "127.0.0.1", 0],
      ["127.0.0.2", "0.0.0.0", 2],
      ["127.0.0.2", "::", 2],
      ["::1", "0.0.0.0", 0],
    ] as const) {
      expect([own, host, await statusOf(own, host)]).toEqual([own, host, status]);
    }
  });

  it("says where the log goes, and that it cannot", async () => {
    const storage = { type: "memory" };
    const good = await configure({ storage, log: { format: "json", file: "service.log" } });
    const { status, stdout } = await check(good);
    expect([status, stdout]).toEqual([
      0,
      expect.stringContaining(`ok: log.file: ${join(good, "../service.log")}, json\n`),
    ]);
    const bad = await check(await configure({ storage, log: { file: "missing/service.log" } }));
    expect(bad.status).toBe(2);
    expect(bad.stdout).toMatch(/^error: log\.file: \S+missing\/service\.log: cannot be written: does not exist$/m);
  });

  it("says each problem on a line, and ends with 2 as the service does", async () => {
    const { status, stdout } = await check(await configure({ storage: { type: "disk", root: "missing" }, colour: 1 }));
    expect([status, stdout]).toEqual([2, expect.stringMatching(/^error: configuration: .*colour: unknown key\n$/)]);
    const missing = await check("nowhere.json");
    expect(missing).toMatchObject({
      status: 2,
      stdout: "error: configuration: nowhere.json: cannot be read: does not exist\n",
    });
  });

  it.skipIf(hasSqlite)("says that SQLite needs another version of Node, as doctor and serve do", async () => {
    const config = await configure({ storage: { type: "memory" }, session: { store: "sqlite://sessions.db" } });
    const problem = `session.store: SQLite needs Node 22.13 or later, but this is ${process.version}; redis:// works`;
    const { status, stdout } = await check(config);
    expect([status, stdout]).toEqual([2, expect.stringContaining(`error: ${problem}`)]);
    expect(stdout).not.toContain("ok: stores");
    const tried = await runInProcess(["doctor", "--config", config]);
    expect([tried.status, tried.stdout]).toEqual([2, expect.stringContaining(`error: ${problem}`)]);
    expect(tried.stdout).not.toContain("start the store");
    expect(await runInProcess(["serve", "--config", config])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining(problem),
    });
  });

  it("ends with 2 if it is used wrongly", async () => {
    expect(await runInProcess(["check"])).toMatchObject({ status: 2, stdout: "" });
  });

  it("checks the accounts of a file, and the certificate", async () => {
    const folder = await makeFolder();
    makeCertificate(folder, { subject: "/CN=files.example", altNames: "DNS:files.example" });
    const accounts = [{ username: "bob", password: "secret of bob", group: "nowhere" }];
    await writeFile(join(folder, "accounts.json"), JSON.stringify({ accounts }));
    const tls = { key: join(folder, "key.pem"), cert: join(folder, "cert.pem") };
    const authentication = [{ type: "accounts", file: join(folder, "accounts.json") }];
    const { status, stdout } = await check(
      await configure({ listen: { tls }, authentication, storage: { type: "memory" } }),
    );
    expect(stdout).toMatch(/^(?:ok|warning): listen\.tls: .*files\.example.*, valid until \d{4}-\d\d-\d\d/m);
    expect(stdout).toMatch(
      /^error: authentication\[0\]: bob of \S+ cannot log in: accounts\[0\]\.group: nowhere is not /m,
    );
    expect(stdout).toMatch(/^warning: storage: memory/m);
    expect(status).toBe(2);
  });

  it("warns of passwords in plain text on the network, and of a proxy that hides the clients", async () => {
    const open = await check(await configure({ listen: { host: "0.0.0.0" }, storage: { type: "memory" } }));
    expect(open.stdout).toMatch(/^warning: listen: passwords cross the network in plain text: set listen\.tls/m);
    const hidden = await check(await configure({ publicOrigin: "https://a.example", storage: { type: "memory" } }));
    expect(hidden.stdout).toMatch(/^warning: clientForwardedHeader: .*: name the header/m);
    expect([open.status, hidden.status]).toEqual([0, 0]);
  });
});
