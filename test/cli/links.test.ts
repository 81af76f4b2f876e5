import { readFile, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { ensureBuilt, makeFolder, runCommand, startServer, waitFor } from "../support/built.ts";
import { countRequests, leaveUndescribed } from "../support/openapi/undescribed.ts";
import { runInProcess } from "../support/run-in-process.ts";
import { configureLinks, onServer, SECRET_OF_LINKS } from "./link-configuration.ts";

const ALICE = { Authorization: `Basic ${btoa("alice:secret of alice")}` };

beforeAll(ensureBuilt, 300_000);

function setVariable(name: string, value: string): void {
  process.env[name] = value;
  onTestFinished(() => {
    delete process.env[name];
  });
}

describe("fileferry link create", () => {
  it("prints the URL of a link that the running service opens, and that has everything in itself", async () => {
    const { config, flags } = await configureLinks({ links: { secret: SECRET_OF_LINKS } });
    const { status, stdout, stderr } = await runCommand(["link", "create", "/reports", ...flags]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toMatch(/^https:\/\/files\.example\/__svc__\/share\/[\w.-]+\/\n$/);
    const server = await startServer(["serve", "--config", config]);
    const url = onServer(server.url, `${stdout.trim()}a.csv`);
    expect(await (await fetch(url)).text()).toBe("1,2,3");
  });

  it("has the wishes of its flags", async () => {
    setVariable("FILEFERRY_LINKS_SECRET", SECRET_OF_LINKS);
    const { flags } = await configureLinks({ basePath: "/files", links: {}, publicOrigin: "" });
    const wishes = ["--permission", "allow-read", "--permission", "allow-list", "--permission", "allow-write"];
    const more = ["--expires", "90m", "--max-file-bytes", "1000", "--password", "--ask-name", "--label", "für Bob"];
    const own = ["--origin", "http://127.0.0.1:8080", "--json"];
    const command = ["link", "create", "/reports/", ...flags, ...wishes, ...more, ...own];
    const { status, stdout, stderr } = await runInProcess(command, "open sesame\nno password\n");
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    const link = JSON.parse(stdout);
    expect(link).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{32}$/),
      path: "/reports",
      is_directory: true,
      url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:8080\/files\/__svc__\/share\/[\w.-]+\/$/),
      file_url: null,
      permissions: ["allow-read", "allow-list", "allow-write"],
      created: expect.any(Number),
      expires: link.created + 90 * 60,
      has_password: true,
      uses: 0,
      max_uses: null,
      max_file_bytes: 1000,
      ask_name: true,
      label: "für Bob",
    });
    expect(stdout).not.toContain("open sesame");
  });

  it.each([
    ["60", 60],
    ["12h", 43_200],
    ["7d", 604_800],
  ])("lasts %s", async (duration, seconds) => {
    const { flags } = await configureLinks({ links: { secret: SECRET_OF_LINKS } });
    const { stdout } = await runInProcess(["link", "create", "/", ...flags, "--expires", duration, "--json"]);
    const { created, expires } = JSON.parse(stdout);
    expect(expires - created).toBe(seconds);
  });

  it("prints a QR code of the URL", async () => {
    const { flags } = await configureLinks({ links: { secret: SECRET_OF_LINKS } });
    const { status, stdout } = await runInProcess(["link", "create", "/reports/a.csv", ...flags, "--qr"]);
    expect(status).toBe(0);
    const [url = "", ...lines] = stdout.trimEnd().split("\n");
    expect(url).toMatch(/^https:/);
    expect(lines.length).toBeGreaterThan(20);
    expect(new Set(lines.map((line) => line.length)).size).toBe(1);
    expect(lines.join("")).toMatch(/^[█▀▄ ]+$/);
    setVariable("FILEFERRY_JSON", "1");
    const again = await runInProcess(["link", "create", "/reports/a.csv", ...flags, "--qr"]);
    expect({ ...again, stdout: again.stdout.split("\n").length }).toEqual({
      status: 0,
      stderr: "",
      stdout: lines.length + 2,
    });
  });

  it("is an event, as a link that its account makes", async () => {
    const { folder, flags } = await configureLinks({ links: { secret: SECRET_OF_LINKS } });
    const { stdout } = await runInProcess(["link", "create", "/reports", ...flags, "--label", "for Bob", "--json"]);
    const written = await readFile(join(folder, "events.ndjson"), "utf8");
    const { id, url } = JSON.parse(stdout);
    const [event, ...others] = written
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(others).toEqual([]);
    expect(event).toMatchObject({ id: 49101, account: { name: "alice" }, link: { id, label: "for Bob" } });
    expect(written).not.toContain(url.split("/").at(-2));
  });

  it.each([
    ["a path where nothing is", "/never.csv", [], /^error: Not found\.\n$/],
    ["an account that may not", "/", ["--account", "carol"], /^error: The account may not make links\.\n$/],
    ["an unknown account", "/", ["--account", "bob"], /^error: the configuration has no usable account bob\n$/],
    ["too long a time", "/", ["--expires", "366d"], /^error: A link may last 31536000 seconds at most\.\n$/],
    ["uses that nobody counts", "/", ["--max-uses", "1"], /^error: The service does not keep links, [^\n]*\n$/],
  ])("ends with status 1 and the reason for %s", async (_case, path, more, message) => {
    const { flags } = await configureLinks({ links: { secret: SECRET_OF_LINKS } });
    const { status, stdout, stderr } = await runInProcess(["link", "create", path, ...flags, ...more]);
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toMatch(message);
  });

  it("says that it cannot look up an account of an external method, and asks none", async () => {
    const authentication = [{ type: "http", url: "http://127.0.0.1:9/" }];
    const { flags } = await configureLinks({ links: { secret: SECRET_OF_LINKS }, authentication });
    expect(await runInProcess(["link", "create", "/", ...flags])).toEqual({
      status: 1,
      stdout: "",
      stderr:
        "error: the configuration has no usable account alice; accounts of an external method are known at their login alone\n",
    });
  });

  it.each<[string, object, readonly string[], RegExp]>([
    ["a configuration without links", {}, [], /^\S+fileferry\.json: links: is missing\n$/],
    [
      "no secret",
      { links: {} },
      [],
      /^\S+fileferry\.json: links\.secret: is missing, and so is FILEFERRY_LINKS_SECRET in the environment\n$/,
    ],
    [
      "links in memory",
      { links: { secret: SECRET_OF_LINKS, store: "memory" } },
      [],
      /^\S+fileferry\.json: links\.store: only the process that serves knows links in memory; [^\n]*\n$/,
    ],
    [
      "files in memory",
      { links: { secret: SECRET_OF_LINKS }, storage: { type: "memory" } },
      [],
      /^\S+fileferry\.json: storage: no other process has the files of a storage in memory\n$/,
    ],
    [
      "no origin",
      { links: { secret: SECRET_OF_LINKS }, publicOrigin: "" },
      [],
      /^error: link create needs --origin, or publicOrigin in the configuration\n$/,
    ],
    [
      "an origin with a path",
      { links: { secret: SECRET_OF_LINKS } },
      ["--origin", "https://a.example/b"],
      /^error: [^\n]*origin/,
    ],
    [
      "an unknown permission",
      { links: { secret: SECRET_OF_LINKS } },
      ["--permission", "allow-rename"],
      /^error: [^\n]*expected one/,
    ],
    [
      "a time that is none",
      { links: { secret: SECRET_OF_LINKS } },
      ["--expires", "2w"],
      /^error: [^\n]*expected seconds/,
    ],
    ["a time of nothing", { links: { secret: SECRET_OF_LINKS } }, ["--expires", "0"], /^error: [^\n]*expected seconds/],
    ["no uses", { links: { secret: SECRET_OF_LINKS } }, ["--max-uses", "0"], /^error: [^\n]*expected a whole number/],
    [
      "an empty password",
      { links: { secret: SECRET_OF_LINKS } },
      ["--password"],
      /^error: [^\n]*password must not be empty\.\n$/,
    ],
    [
      "both outputs",
      { links: { secret: SECRET_OF_LINKS } },
      ["--qr", "--json"],
      /^error: --qr cannot be used together with --json\n$/,
    ],
  ])("ends with status 2 and the reason for %s", async (_case, keys, more, message) => {
    const { flags } = await configureLinks(keys);
    const { status, stdout, stderr } = await runInProcess(["link", "create", "/", ...flags, ...more], "\n");
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain(SECRET_OF_LINKS);
  });

  it("takes a new secret in front of the old one from the environment, and says what is wrong with it", async () => {
    setVariable("FILEFERRY_LINKS_SECRET", "short");
    const { config, flags } = await configureLinks({ links: {} });
    const refused = await runInProcess(["link", "create", "/", ...flags]);
    expect(refused).toMatchObject({ status: 2, stdout: "" });
    expect(refused.stderr).toMatch(/FILEFERRY_LINKS_SECRET must be a text of at least 32 characters/);
    setVariable("FILEFERRY_LINKS_SECRET", SECRET_OF_LINKS);
    const { stdout } = await runInProcess(["link", "create", "/reports/a.csv", ...flags, "--json"]);
    setVariable("FILEFERRY_LINKS_SECRET", `a new secret, which now seals the links\n${SECRET_OF_LINKS}\n`);
    const server = await startServer(["serve", "--config", config]);
    expect((await fetch(onServer(server.url, JSON.parse(stdout).file_url))).status).toBe(200);
  });
});

describe("fileferry link list and revoke", () => {
  it.each([["list"], ["revoke"]])("%s ends with status 1 without a store", async (name) => {
    const { config, flags } = await configureLinks({ links: { secret: SECRET_OF_LINKS } });
    const args = name === "list" ? flags : ["0".repeat(32), "--config", config];
    const { status, stderr } = await runInProcess(["link", name, ...args]);
    expect(status).toBe(1);
    expect(stderr).toMatch(/^error: The service does not keep links, /);
  });

  it.each([["list"], ["revoke"]])("%s ends with status 2 for links in memory", async (name) => {
    const { config, flags } = await configureLinks({ links: { secret: SECRET_OF_LINKS, store: "memory" } });
    const args = name === "list" ? flags : ["0".repeat(32), "--config", config];
    const { status, stderr } = await runInProcess(["link", name, ...args]);
    expect(status).toBe(2);
    expect(stderr).toMatch(/links\.store: only the process that serves knows links in memory/);
  });
});

describe("fileferry serve with links", () => {
  it("refuses workers whose links are in memory, with status 2", async () => {
    const { config } = await configureLinks({
      links: { secret: SECRET_OF_LINKS, store: "memory" },
      session: { store: "redis://127.0.0.1:9" },
    });
    const { status, stderr } = await runInProcess(["serve", "--config", config, "--workers", "2"]);
    expect(status).toBe(2);
    expect(stderr).toMatch(/^error: --workers needs links that all workers share: set links\.store [^\n]*\n$/m);
  });

  it("has links of this run with --links alone", async () => {
    const folder = await makeFolder();
    await writeFile(join(folder, "a.csv"), "1,2,3");
    leaveUndescribed("POST", "/home/__svc__/links");
    const headers = { Authorization: `Basic ${btoa("alice:secret")}`, "Content-Type": "application/json" };
    const serve = ["serve", folder, "--account", "alice:secret", "--port", "0"];
    const create = async ({ url }: { readonly url: string }) =>
      fetch(`${url}home/__svc__/links`, { method: "POST", headers, body: JSON.stringify({ path: "/a.csv" }) });
    const server = await startServer([...serve, "--links"]);
    const created = await create(server);
    expect(created.status).toBe(201);
    const { results } = (await created.json()) as { results: readonly { file_url: string }[] };
    expect(await (await fetch(onServer(server.url, results[0]?.file_url ?? ""))).text()).toBe("1,2,3");
    // Without the flag the URL is one of no resource.
    expect((await create(await startServer(serve))).status).toBeGreaterThanOrEqual(400);
  });

  it.each([
    ["a configuration and --links", ["--links"], /^error: --config cannot be used together with --links: [^\n]*\n$/],
    ["no secret", [], /^\S+fileferry\.json: links\.secret: is missing, and so is FILEFERRY_LINKS_SECRET/],
  ])("refuses %s with status 2", async (_case, more, message) => {
    const { config } = await configureLinks({ links: { store: "memory" } });
    const { status, stderr } = await runInProcess(["serve", "--config", config, ...more]);
    expect(status).toBe(2);
    expect(stderr).toMatch(message);
  });

  it("has the limit of transfers of its configuration", async () => {
    const { config, folder, flags } = await configureLinks({
      links: { secret: SECRET_OF_LINKS },
      limits: { transfersPerLink: 1 },
    });
    await writeFile(join(folder, "files/large.bin"), new Uint8Array(64 * 1_048_576));
    const { stdout } = await runInProcess(["link", "create", "/large.bin", ...flags, "--json"]);
    const server = await startServer(["serve", "--config", config]);
    const file = onServer(server.url, JSON.parse(stdout).file_url);
    const first = await fetch(file);
    const second = await fetch(file);
    expect([first.status, second.status]).toEqual([200, 503]);
    await first.body?.cancel();
    await second.text();
  });
});

describe("the log of fileferry serve", () => {
  it("has no token of a link, however its URL is written", async () => {
    countRequests();
    const { config, flags } = await configureLinks({ basePath: "/files", links: { secret: SECRET_OF_LINKS } });
    const { stdout } = await runInProcess(["link", "create", "/reports", ...flags]);
    const server = await startServer(["serve", "--config", config]);
    const { hostname, port } = new URL(server.url);
    const { pathname } = new URL(stdout.trim());
    const token = pathname.split("/").at(-2) ?? "";
    const encoded = [...token].map((each) => `%${each.charCodeAt(0).toString(16)}`).join("");
    const paths = [
      `${pathname}a.csv`,
      pathname.slice(0, -1),
      `/files/__svc__/share/${encoded}/`,
      `/files/__svc__/%73hare/${token}/`,
      `/files/__svc__%2Fshare%2F${token}%2Fa.csv`,
      `/files/__svc__/share/${token}/%zz`,
      `/files/__svc__/share/${token.slice(0, -4)}`,
      `http://files.example${pathname}a.csv?x`,
      `/shared/${token}/a.csv`,
    ];
    for (const path of paths) {
      leaveUndescribed("GET", path);
      const socket = connect(Number(port), hostname);
      const referer = `Referer: http://${hostname}:${port}${pathname}`;
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n${referer}\r\nConnection: close\r\n\r\n`);
      await text(socket);
    }
    await waitFor(() => (server.stderr().match(/ - GET /g)?.length === paths.length ? true : undefined), server);
    const logged = server.stderr().matchAll(/ - GET (\S+) \d{3}/g);
    expect([...logged].map(([, path]) => path)).toEqual([
      "/files/__svc__/share/*/a.csv",
      "/files/__svc__/share/*",
      "/files/__svc__/share/*/",
      "/files/__svc__/%73hare/*/",
      "/files/__svc__%2Fshare%2F*%2Fa.csv",
      "/files/__svc__/share/*/%zz",
      "/files/__svc__/share/*",
      "/files/__svc__/share/*/a.csv",
      "/shared/*/a.csv",
    ]);
    server.child.kill("SIGTERM");
    expect(await server.ended).toBe(0);
    const events = await readFile(join(config, "../events.ndjson"), "utf8");
    expect(`${server.stderr()}${events}`).not.toContain(token.slice(9));
    expect(`${server.stderr()}${events}`).not.toContain(encoded.slice(27));
  });

  it("has none as JSON either", async () => {
    countRequests();
    const { config, flags } = await configureLinks({ links: { secret: SECRET_OF_LINKS }, log: { format: "json" } });
    const { stdout } = await runInProcess(["link", "create", "/reports", ...flags]);
    const server = await startServer(["serve", "--config", config]);
    await (await fetch(onServer(server.url, stdout.trim()), { headers: ALICE })).text();
    const line = await waitFor(() => server.stderr().match(/^.*"request".*$/m)?.[0], server);
    expect(JSON.parse(line)).toMatchObject({ path: "/__svc__/share/*/" });
  });
});
