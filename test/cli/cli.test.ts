import { once } from "node:events";
import { access, chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer, request as httpRequest } from "node:http";
import { get as httpsGet } from "node:https";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as delay } from "node:timers/promises";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createPasswordHasher } from "../../src/auth/passwords/hash.ts";
import { ensureBuilt, makeFolder, projectFolder, runCommand, startServer, waitFor } from "../support/built.ts";
import { makeCertificate } from "../support/certificates.ts";
import { countRequests, leaveUndescribed } from "../support/openapi/undescribed.ts";
import { runInProcess } from "../support/run-in-process.ts";
import { toUnprivileged } from "../support/unprivileged.ts";
import { HAS_TERMINAL, runOnTerminal } from "./terminal.ts";

const ALICE = { Authorization: `Basic ${btoa("alice:secret")}` };
const ACCOUNT = ["--account", "alice:secret"];
const ANY_PORT = ["--port", "0"];

beforeAll(ensureBuilt, 300_000);

describe("fileferry", () => {
  it("prints its version", async () => {
    const { version } = JSON.parse(await readFile(join(projectFolder, "package.json"), "utf8"));
    expect(await runCommand(["--version"])).toEqual({ status: 0, stdout: `${version}\n`, stderr: "" });
  });

  it("prints its help, and that of a command", async () => {
    const help = await runCommand(["--help"]);
    expect(help).toMatchObject({ status: 0, stderr: "" });
    expect(help.stdout).toMatch(/serve[\s\S]*hash-password/);
    const { stdout } = await runCommand(["serve", "--help"]);
    expect(stdout).toContain("--account");
    expect(stdout).toMatch(/default:\s+8080/);
    expect(stdout).not.toContain("[])");
  });

  it.each([
    ["no command at all", [], /Usage: fileferry/],
    ["an unknown command", ["sevre"], /^error: unknown command 'sevre' \(Did you mean serve\?\)\n$/],
    ["an unknown flag", ["serve", ".", "--colour"], /^error: unknown option '--colour'\n$/],
    ["no folder", ["serve"], /^error: serve needs a folder, or --config\n$/],
    ["no account", ["serve", "."], /^error: serve needs at least one --account name:password\n$/],
    [
      "an account without a password",
      ["serve", ".", "--account", "alice"],
      /^error: --account \(number 1\): expected name:password\n$/,
    ],
    [
      "an account twice",
      ["serve", ".", ...ACCOUNT, ...ACCOUNT],
      /^error: --account \(number 2\)\.username: is already in use\n$/,
    ],
    [
      "a broken hash",
      ["serve", ".", "--account", "alice:$scrypt$x"],
      /^error: --account \(number 1\)\.password: [^\n]*\n$/,
    ],
    [
      "a port that is none",
      ["serve", ".", ...ACCOUNT, "--port", "65536"],
      /^error: [^\n]*'65536' is invalid\. expected 0 to 65535\n$/,
    ],
    [
      "both ways at once",
      ["serve", ".", "--config", "x.json"],
      /^error: --config cannot be used together with [^\n]*\n$/,
    ],
    ["a missing folder", ["serve", "/nowhere/at/all", ...ACCOUNT], /^error: \/nowhere\/at\/all: does not exist\n$/],
    ["a file for a folder", ["serve", "package.json", ...ACCOUNT], /^error: package\.json: is not a folder\n$/],
    [
      "a missing configuration",
      ["serve", "--config", "/nowhere.json"],
      /^\/nowhere\.json: cannot be read: does not exist\n$/,
    ],
  ])("ends with status 2 and a line that says why for %s", async (_case, args, message) => {
    const { status, stdout, stderr } = await runInProcess(args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain("secret");
  });
});

describe("fileferry hash-password", () => {
  it.each([
    ["a line", "pass:wörd \n", "pass:wörd "],
    ["a line of Windows", "secret\r\n", "secret"],
    ["a text without an end", "secret", "secret"],
    ["the first of several lines", "one\ntwo\n", "one"],
  ])("prints the PHC string of %s", async (_case, input, password) => {
    const { status, stdout, stderr } = await runInProcess(["hash-password"], input);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toMatch(/^\$scrypt\$[^\n]+\n$/);
    expect(await createPasswordHasher().verify(password, stdout.trim())).toBe(true);
  });

  it.each([
    ["nothing", ""],
    ["an empty line", "\n"],
    ["more than a password may have", "x".repeat(1025)],
  ])("ends with status 2 for %s", async (_case, input) => {
    const { status, stdout, stderr } = await runInProcess(["hash-password"], input);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toMatch(/^error: [^\n]+\n$/);
  });

  it.runIf(HAS_TERMINAL)("asks twice on a terminal and echoes neither", async () => {
    const { status, shown } = await runOnTerminal(["hash-password"], "sekret");
    expect(status).toBe(0);
    expect(shown).toMatch(/^Password: \r\nRepeat the password: \r\n\$scrypt\$\S+\r\n$/);
  });

  it("prints a hash that serve accepts as a password", async () => {
    const folder = await makeFolder();
    const { stdout } = await runCommand(["hash-password"], "secret\n");
    const { url, stderr } = await startServer(["serve", folder, "--account", `alice:${stdout.trim()}`, ...ANY_PORT]);
    expect((await fetch(`${url}home/`, { headers: ALICE })).status).toBe(200);
    expect(stderr()).not.toContain("plain-text");
  });
});

describe("fileferry serve", () => {
  it("warns at its start that it cannot read its folder, and responds 403 until it can", async ({ skip }) => {
    const folder = await makeFolder();
    await writeFile(join(folder, "a"), "content");
    const config = join(await makeFolder(), "config.json");
    const accounts = [{ username: "alice", password: "secret", home_folder_path: "/" }];
    await writeFile(
      config,
      JSON.stringify({ storage: { type: "disk", root: folder }, authentication: [{ type: "accounts", accounts }] }),
    );
    const by = toUnprivileged(skip);
    await chmod(folder, 0);
    for (const args of [
      ["serve", folder, ...ACCOUNT],
      ["serve", "--config", config],
    ]) {
      const { url, stderr } = await startServer([...args, ...ANY_PORT], by);
      await expect.poll(stderr).toContain("The storage's root folder cannot be read.");
      expect((await fetch(`${url}home/a`, { headers: ALICE })).status).toBe(403);
    }
    await chmod(folder, 0o755);
    const { url, stderr } = await startServer(["serve", folder, ...ACCOUNT, ...ANY_PORT], by);
    expect(stderr()).not.toContain("cannot be read");
    expect((await fetch(`${url}home/a`, { headers: ALICE })).status).toBe(200);
  });

  it("warns at its start of virtual folders whose real folder is missing, once each", async () => {
    const folder = await makeFolder();
    await mkdir(join(folder, "there"));
    const config = join(await makeFolder(), "config.json");
    const both = [
      ["/pub", "/there"],
      ["/gone", "/not/there"],
    ];
    const accounts = ["alice", "bob"].map((username) => ({ username, password: "secret", virtual_folders: both }));
    await writeFile(
      config,
      JSON.stringify({ storage: { type: "disk", root: folder }, authentication: [{ type: "accounts", accounts }] }),
    );
    const { url, stderr } = await startServer(["serve", "--config", config, ...ANY_PORT]);
    await expect.poll(stderr).toContain("The real folder of a virtual folder is missing.");
    expect(stderr().match(/virtual folder/g)).toHaveLength(1);
    expect(stderr()).toContain("/not/there");
    expect((await fetch(`${url}home/gone/a`, { method: "PUT", headers: ALICE, body: "x" })).status).toBe(201);
    expect(await readFile(join(folder, "not", "there", "a"), "utf8")).toBe("x");
  });

  it("prints its address once it responds, on a free port for 0, and serves the folder itself", async () => {
    const folder = await makeFolder();
    await writeFile(join(folder, "a.txt"), "content");
    const run = await startServer(["serve", folder, ...ACCOUNT, ...ANY_PORT]);
    expect(run.stdout()).toMatch(/^Listening on http:\/\/127\.0\.0\.1:[1-9]\d*\/\n$/);
    const read = await fetch(`${run.url}home/a.txt`, { headers: ALICE });
    expect([read.status, await read.text()]).toEqual([200, "content"]);
    const stored = await fetch(`${run.url}home/b.txt`, { method: "PUT", headers: ALICE, body: "new" });
    expect([stored.status, await readFile(join(folder, "b.txt"), "utf8")]).toEqual([201, "new"]);
    expect((await fetch(`${run.url}home/a.txt`, { headers: { Accept: "application/json" } })).status).toBe(401);
  });

  it("serves the interactive page of the API and its assets", async () => {
    const { url } = await startServer(["serve", await makeFolder(), ...ACCOUNT, ...ANY_PORT]);
    const page = await fetch(new URL("/__svc__/openapi.html", url));
    expect(page.status).toBe(200);
    const assets = [...(await page.text()).matchAll(/"(\/__svc__\/assets\/[^"]+)"/g)].map(([, path = ""]) => path);
    expect(assets).toHaveLength(5);
    for (const path of assets) expect((await fetch(new URL(path, url))).status).toBe(200);
  });

  it("takes several accounts, and passwords with colons", async () => {
    const accounts = ["--account", "alice:one:two", "--account", "bob:three"];
    const { url } = await startServer(["serve", await makeFolder(), ...accounts, ...ANY_PORT]);
    for (const credentials of ["alice:one:two", "bob:three"]) {
      const headers = { Authorization: `Basic ${btoa(credentials)}` };
      expect((await fetch(`${url}home/`, { headers })).status).toBe(200);
    }
  });

  it("warns of plain-text passwords in one line, without them", async () => {
    const { stderr } = await startServer(["serve", await makeFolder(), ...ACCOUNT, ...ANY_PORT]);
    await expect.poll(stderr).toMatch(/^warning: [^\n]*plain-text[^\n]*\n$/);
    expect(stderr()).not.toContain("secret");
  });

  it("puts IPv6 addresses in brackets", async () => {
    const { url } = await startServer(["serve", await makeFolder(), ...ACCOUNT, ...ANY_PORT, "--host", "::1"]);
    expect(url).toMatch(/^http:\/\/\[::1\]:\d+\/$/);
    expect((await fetch(`${url}home/`, { headers: ALICE })).status).toBe(200);
  });

  it("ends with status 1 and one line when the port is taken", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    onTestFinished(() => void taken.close());
    const port = String((taken.address() as AddressInfo).port);
    const { status, stdout, stderr } = await runCommand(["serve", await makeFolder(), ...ACCOUNT, "--port", port]);
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toContain(`error: cannot listen on 127.0.0.1:${port}: the address is already in use\n`);
    expect(stderr).not.toMatch(/^ +at /m);
  });

  it("ends with status 1 for a host that is not this machine's", async () => {
    const args = ["serve", await makeFolder(), ...ACCOUNT, "--host", "192.0.2.1"];
    const { status, stderr } = await runCommand(args);
    expect(status).toBe(1);
    expect(stderr).toContain("error: cannot listen on 192.0.2.1:8080: not an address of this machine\n");
  });
});

describe("the request log of fileferry serve", () => {
  it("has one line per request on stderr: method, path, status, bytes of content, time", async () => {
    countRequests();
    const run = await startServer(["serve", await makeFolder(), ...ACCOUNT, ...ANY_PORT]);
    const uploaded = await fetch(`${run.url}home/a%20b.txt`, { method: "PUT", headers: ALICE, body: "12345" });
    const answer = await uploaded.text();
    // It is ignored.
    leaveUndescribed("GET", "/home/a%20b.txt?secret");
    await (await fetch(`${run.url}home/a%20b.txt?secret`, { headers: ALICE })).text();
    await fetch(`${run.url}home/a%20b.txt`, { method: "HEAD", headers: ALICE });
    await waitFor(() => / HEAD .*\n/.exec(run.stderr()) ?? undefined, run);
    const [, ...lines] = run.stderr().trimEnd().split("\n");
    expect(lines.map((line) => line.replace(/^\S+Z |\d+ ms, /g, "").replace(/ in .*$/, ""))).toEqual([
      `127.0.0.1 alice PUT /home/a%20b.txt 201 ${answer.length} B 5 B`,
      "127.0.0.1 alice GET /home/a%20b.txt 200 5 B 0 B",
      "127.0.0.1 alice HEAD /home/a%20b.txt 200 0 B 0 B",
    ]);
    expect(run.stdout().split("\n")).toHaveLength(2);
  });

  it("cannot be forged by a client's path, which cannot control a terminal either", async () => {
    countRequests();
    const run = await startServer(["serve", await makeFolder(), ...ACCOUNT, ...ANY_PORT]);
    const { hostname, port } = new URL(run.url);
    // Node's parser refuses raw control bytes itself; what it lets through is escaped.
    for (const path of ["/home/\x9b31m\x7f", "/home/\u00ff", "/home/\\x0a%0aGET"]) {
      const socket = connect(Number(port), hostname);
      socket.write(Buffer.from(`GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`, "latin1"));
      await text(socket);
    }
    await waitFor(() => / GET .*\n/.exec(run.stderr()) ?? undefined, run);
    const [, ...lines] = run.stderr().trimEnd().split("\n");
    expect(lines).toEqual([
      expect.stringMatching(/^\S+Z 127\.0\.0\.1 - GET \/home\/\\\\x0a%0aGET \d{3} \d+ B \d+ ms, 0 B in "-" \S{36}$/),
    ]);
  });

  it("shows aborted transfers, without a status that was never sent", async () => {
    const run = await startServer(["serve", await makeFolder(), ...ACCOUNT, ...ANY_PORT]);
    const upload = await startUpload(`${run.url}home/cut.bin`);
    upload.write("half");
    await delay(100);
    upload.destroy();
    const line = await waitFor(() => / PUT .*\n/.exec(run.stderr())?.[0], run);
    expect(line).toMatch(/^ PUT \/home\/cut\.bin - \d+ B \d+ ms aborted, 4 B in "-" \S{36}\n$/);
  });

  it("has requests with an expectation and CONNECT too, and no credentials of an absolute target", async () => {
    countRequests();
    const run = await startServer(["serve", await makeFolder(), ...ACCOUNT, ...ANY_PORT]);
    const { hostname, port } = new URL(run.url);
    // The query is ignored.
    for (const target of ["http://alice:secret@x/home/b.txt?secret", "http://alice:secret@x?secret"])
      leaveUndescribed("GET", target);
    for (const start of [
      "GET /home/a.txt HTTP/1.1\r\nExpect: anything",
      "GET http://alice:secret@x/home/b.txt?secret HTTP/1.1",
      "GET http://alice:secret@x?secret HTTP/1.1",
      "CONNECT alice:secret@x:443 HTTP/1.1",
      "CONNECT x:443 HTTP/1.1",
    ]) {
      const socket = connect(Number(port), hostname);
      socket.write(`${start}\r\nHost: x\r\nAccept: application/json\r\nConnection: close\r\n\r\n`);
      await text(socket);
    }
    await waitFor(() => /(?:^\S+ \S+ - CONNECT .*\n){2}/m.exec(run.stderr()) ?? undefined, run);
    const [, ...lines] = run.stderr().trimEnd().split("\n");
    expect(lines.map((line) => line.replace(/^\S+ \S+ - /, "").replace(/\d+ B \d+ ms, 0 B in .*$/, "N"))).toEqual([
      "GET /home/a.txt 401 N",
      "GET /home/b.txt 401 N",
      expect.stringMatching(/^GET \/ \d{3} N$/),
      "CONNECT x:443 501 N",
      "CONNECT x:443 501 N",
    ]);
    expect(run.stderr()).not.toContain("secret@");
  });

  it("is absent with --quiet", async () => {
    const run = await startServer(["serve", await makeFolder(), ...ACCOUNT, ...ANY_PORT, "--quiet"]);
    await (await fetch(`${run.url}home/`, { headers: ALICE })).text();
    run.child.kill("SIGTERM");
    expect(await run.ended).toBe(0);
    expect(run.stderr()).not.toContain("/home/");
  });
});

describe("the end of fileferry serve", () => {
  it.each(["SIGTERM", "SIGINT"] as const)(
    "is immediate on %s if no request is in progress, with status 0",
    async (signal) => {
      const run = await startServer(["serve", await makeFolder(), ...ACCOUNT, ...ANY_PORT]);
      // Leaves an idle kept-alive connection behind.
      await (await fetch(`${run.url}home/`, { headers: ALICE })).text();
      const startedAt = Date.now();
      run.child.kill(signal);
      expect(await run.ended).toBe(0);
      expect(Date.now() - startedAt).toBeLessThan(3000);
    },
  );

  it("waits for an upload in progress, accepts no new connection, and has status 0", async () => {
    const folder = await makeFolder();
    const run = await startServer(["serve", folder, ...ACCOUNT, ...ANY_PORT]);
    const upload = await startUpload(`${run.url}home/slow.bin`);
    upload.write("first ");
    run.child.kill("SIGTERM");
    await waitFor(() => (run.stderr().includes("Stopping") ? true : undefined), run);
    await delay(300);
    await expect(fetch(`${run.url}home/`, { headers: ALICE })).rejects.toThrow();
    await expect(access(join(folder, "slow.bin"))).rejects.toThrow();
    const answered = once(upload, "response");
    upload.end("second");
    const [response] = await answered;
    expect(response.statusCode).toBe(201);
    response.resume();
    expect(await run.ended).toBe(0);
    expect(await readFile(join(folder, "slow.bin"), "utf8")).toBe("first second");
  });

  it("counts two signals at the same moment as one, because npm repeats the signal of the terminal", async () => {
    const folder = await makeFolder();
    const run = await startServer(["serve", folder, ...ACCOUNT, ...ANY_PORT]);
    const upload = await startUpload(`${run.url}home/slow.bin`);
    upload.write("first ");
    // The system may merge two signals of one kind.
    run.child.kill("SIGINT");
    run.child.kill("SIGTERM");
    await waitFor(() => (run.stderr().includes("Stopping") ? true : undefined), run);
    await delay(300);
    upload.end("second");
    expect(await run.ended).toBe(0);
    expect(await readFile(join(folder, "slow.bin"), "utf8")).toBe("first second");
  });

  it.each(["SIGTERM", "SIGINT"] as const)("is immediate on a second %s, by that signal itself", async (signal) => {
    const folder = await makeFolder();
    const run = await startServer(["serve", folder, ...ACCOUNT, ...ANY_PORT]);
    const upload = await startUpload(`${run.url}home/slow.bin`);
    upload.write("first ");
    run.child.kill(signal);
    await waitFor(() => (run.stderr().includes("Stopping") ? true : undefined), run);
    await delay(400);
    run.child.kill(signal);
    await run.ended;
    expect(run.child.signalCode).toBe(signal);
    await expect(access(join(folder, "slow.bin"))).rejects.toThrow();
  });
});

describe("fileferry serve --config", () => {
  it("serves what the file says, relative paths from the file's own folder", async () => {
    const folder = await makeFolder();
    await mkdir(join(folder, "data"));
    await writeFile(join(folder, "data/a.txt"), "content");
    const bob = { username: "bob", password: "hidden", home_folder_path: "/" };
    await writeFile(join(folder, "accounts.json"), JSON.stringify({ accounts: [bob] }));
    const config = {
      listen: { port: 0 },
      basePath: "/files",
      server: { name: "depot" },
      storage: { type: "disk", root: "data" },
      authentication: [
        { type: "accounts", accounts: [{ username: "alice", password: "secret" }] },
        { type: "accounts", file: "accounts.json" },
      ],
      session: { announce: false },
    };
    const { url } = await startServer(["serve", "--config", await writeConfig(folder, config)]);
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/files\/$/);

    const asBob = { Authorization: `Basic ${btoa("bob:hidden")}` };
    const read = await fetch(`${url}home/a.txt`, { headers: asBob });
    expect([read.status, await read.text()]).toEqual([200, "content"]);
    expect(read.headers.get("server")).toMatch(/^depot\//);

    expect((await fetch(`${url}home/`, { headers: ALICE })).status).toBe(200);
    await access(join(folder, "data/alice"));
    const anonymous = await fetch(`${url}home/`, { headers: { Accept: "application/json" } });
    expect(anonymous.headers.get("www-authenticate")).toBe('basic realm="Web files access"');
  });

  it("lets --host and --port override the file", async () => {
    const folder = await makeFolder();
    const config = await writeConfig(folder, { ...MEMORY, listen: { host: "192.0.2.1", port: 1 } });
    const { url } = await startServer(["serve", "--config", config, ...ANY_PORT, "--host", "localhost"]);
    expect(url).toMatch(/^http:\/\/localhost:\d+\/$/);
  });

  it("serves HTTPS", async () => {
    const folder = await makeFolder();
    const { cert } = makeCertificate(folder, { subject: "/CN=127.0.0.1", altNames: "IP:127.0.0.1" });
    const listen = { port: 0, tls: { key: "key.pem", cert: "cert.pem" } };
    const { url } = await startServer(["serve", "--config", await writeConfig(folder, { ...MEMORY, listen })]);
    expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+\/$/);
    const ca = await readFile(cert);
    const [response] = await once(httpsGet(`${url}home/`, { ca, headers: ALICE }), "response");
    response.resume();
    expect(response.statusCode).toBe(200);
  });

  it.each<[string, unknown, string]>([
    ["an unknown key", { storage: { type: "memory" }, colour: 1 }, "colour: unknown key"],
    ["a wrong type", { storage: { type: "disk", root: 1 } }, "storage.root: expected string, received number"],
    ["a bad value", { listen: { port: 65_536 } }, "listen.port: must be 0 to 65535"],
    ["a missing authentication", { authentication: undefined }, "authentication: is missing"],
    ["an empty authentication", { authentication: [] }, "authentication: must have at least one entry"],
    ["a storage that is not there", { storage: { type: "disk", root: "none" } }, "storage.root: does not exist"],
    [
      "an accounts file that is not there",
      { authentication: [{ type: "accounts", file: "none.json" }] },
      "authentication[0].file: ",
    ],
    [
      "a certificate that is not there",
      { listen: { tls: { key: "none.pem", cert: "none.pem" } } },
      "listen.tls.key: cannot be read: does not exist",
    ],
  ])("ends with status 2 and the key's path for %s", async (_case, change, problem) => {
    const file = await writeConfig(await makeFolder(), { ...MEMORY, ...(change as object) });
    const { status, stdout, stderr } = await runInProcess(["serve", "--config", file]);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    const problems = stderr.split("\n").filter((line) => !/^(?:warning|info): /.test(line));
    expect(problems[0]).toContain(`${file}: ${problem}`);
    expect(stderr).not.toMatch(/^ +at |secret/m);
  });

  it("ends with status 2 and the position of invalid JSON", async () => {
    const file = join(await makeFolder(), "fileferry.json");
    await writeFile(file, '{\n  "authentication": [],\n}\n');
    const { status, stderr } = await runCommand(["serve", "--config", file]);
    expect(status).toBe(2);
    expect(stderr).toMatch(/fileferry\.json: line 3, column 1: is not valid JSON[^\n]*\n$/);
  });
});

const MEMORY = {
  storage: { type: "memory" },
  authentication: [{ type: "accounts", accounts: [{ username: "alice", password: "secret" }] }],
};

async function writeConfig(folder: string, config: unknown): Promise<string> {
  const file = join(folder, "fileferry.json");
  await writeFile(file, JSON.stringify(config));
  return file;
}

/** Starts an upload: the command has asked for its content. */
async function startUpload(url: string): Promise<ReturnType<typeof httpRequest>> {
  const upload = httpRequest(url, { method: "PUT", headers: { ...ALICE, Expect: "100-continue" } });
  upload.on("error", () => undefined);
  upload.flushHeaders();
  await once(upload, "continue");
  return upload;
}
