import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type CommandRun, ensureBuilt, makeFolder, runCommand, startServer, waitFor } from "../support/built.ts";
import { makeCertificate } from "../support/certificates.ts";
import { leaveUndescribed } from "../support/openapi/undescribed.ts";
import { hasRedis, redisNote, startRedis } from "../support/redis.ts";
import { configure } from "./configure.ts";

beforeAll(ensureBuilt, 300_000);

async function commonNameOf(url: string): Promise<string> {
  const { hostname, port } = new URL(url);
  const socket = connectTls({ host: hostname, port: Number(port), rejectUnauthorized: false });
  await new Promise((resolve) => socket.once("secureConnect", resolve));
  const { CN } = socket.getPeerCertificate().subject;
  socket.destroy();
  return String(CN);
}

function ask(url: string, credentials: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { Authorization: `Basic ${btoa(credentials)}`, Accept: "application/json" };
    request(`${url}home/`, { rejectUnauthorized: false, headers }, (response) => {
      response
        .resume()
        .on("end", () => resolve(response.statusCode ?? 0))
        .on("error", reject);
    })
      .on("error", reject)
      .end();
  });
}

/** Starts an upload that sends a little again and again. `end` ends it, and returns its status and what it has sent. */
function startUpload(url: string, credentials: string) {
  const headers = { Authorization: `Basic ${btoa(credentials)}`, Accept: "application/json" };
  const sending = request(url, { method: "PUT", rejectUnauthorized: false, headers });
  const status = (once(sending, "response") as Promise<[IncomingMessage]>).then(([response]) => {
    response.resume();
    return response.statusCode;
  });
  status.catch(() => undefined);
  const chunks: Buffer[] = [];
  const timer = setInterval(() => {
    const chunk = randomBytes(10_000);
    chunks.push(chunk);
    sending.write(chunk);
  }, 20);
  return async function end(): Promise<{ status: number | undefined; content: Buffer }> {
    clearInterval(timer);
    sending.end();
    return { status: await status, content: Buffer.concat(chunks) };
  };
}

const linesWith = (run: CommandRun, text: string): number => run.stderr().split(text).length - 1;

describe("SIGHUP", () => {
  it("reads accounts, certificates and the log file again under load", () => reload({}, []));

  it.skipIf(!hasRedis)(`does so in all workers${redisNote}`, async () => {
    const redis = await startRedis();
    onTestFinished(redis.stop);
    await reload({ session: { store: redis.url } }, ["--workers", "2"]);
  });

  async function reload(more: object, flags: readonly string[]): Promise<void> {
    leaveUndescribed("GET", "/home/");
    const folder = await makeFolder();
    const file = join(folder, "fileferry.json");
    const write = (accounts: object[]) =>
      writeFile(
        file,
        JSON.stringify({
          listen: { port: 0, tls: { key: "key.pem", cert: "cert.pem" } },
          storage: { type: "disk", root: "." },
          authentication: [{ type: "accounts", accounts }],
          basicCacheSeconds: 60,
          log: { format: "json", file: "service.log" },
          ...more,
        }),
      );
    const alice = { username: "alice", password: "secret of alice" };
    makeCertificate(folder, { subject: "/CN=before", altNames: "IP:127.0.0.1" });
    await write([alice]);
    const run = await startServer(["serve", "--config", file, ...flags]);
    expect(await commonNameOf(run.url)).toBe("before");
    expect(await ask(run.url, "bob:secret of bob")).toBe(401);

    const statuses: number[] = [];
    let isOver = false;
    const load = Array.from({ length: 4 }, async () => {
      while (!isOver) statuses.push(await ask(run.url, "alice:secret of alice"));
    });
    const names = ["one", "two", "three"];
    const uploads = names.map((name) => startUpload(`${run.url}home/${name}`, "alice:secret of alice"));
    const log = join(folder, "service.log");
    const logged = async (text: string): Promise<void> => {
      for (let tries = 0; tries < 300; tries += 1) {
        if ((await readFile(log, "utf8").catch(() => "")).includes(text)) return;
        await delay(20);
      }
      throw new Error(`The log does not have: ${text}`);
    };
    await delay(300);
    makeCertificate(folder, { subject: "/CN=after", altNames: "IP:127.0.0.1" });
    await write([alice, { username: "bob", password: "secret of bob" }]);
    await rename(log, join(folder, "service.log.1"));
    run.child.kill("SIGHUP");
    await logged("The certificates were read again.");
    await delay(500);
    expect(await commonNameOf(run.url)).toBe("after");
    expect(await ask(run.url, "bob:secret of bob")).toBe(200);

    await writeFile(file, "{");
    run.child.kill("SIGHUP");
    await logged("The accounts could not be read again, and stay as they were.");
    expect(await ask(run.url, "bob:secret of bob")).toBe(200);
    isOver = true;
    await Promise.all(load);
    // The uploads have lasted from before the first signal until after the second one.
    const ended = await Promise.all(uploads.map((end) => end()));
    expect(ended.map(({ status }) => status)).toEqual([201, 201, 201]);
    for (const [index, { content }] of ended.entries()) {
      expect(content.byteLength).toBeGreaterThan(100_000);
      expect(
        content.equals(await readFile(join(folder, "alice", names[index] ?? ""))),
        `the bytes of ${names[index]}`,
      ).toBe(true);
    }
    expect(statuses.length).toBeGreaterThan(20);
    expect([...new Set(statuses)]).toEqual([200]);
    expect(await readFile(join(folder, "service.log.1"), "utf8")).toContain('"path":"/home/"');
    expect(run.stderr()).not.toContain('"path"');
    run.child.kill("SIGTERM");
    expect(await run.ended).toBe(0);
  }

  it("opens the log of a flag again, also if that fails", async () => {
    const folder = await makeFolder();
    const logs = join(folder, "logs");
    await mkdir(logs);
    const log = join(logs, "service.log");
    const run = await startServer([
      "serve",
      folder,
      "--account",
      "alice:secret of alice",
      "--port",
      "0",
      "--log-file",
      log,
    ]);
    const visit = async (path: string): Promise<void> => void (await fetch(`${run.url}${path}`));
    const has = async (file: string, text: string) =>
      expect.poll(() => readFile(file, "utf8"), { timeout: 20_000 }).toContain(text);
    await visit("__svc__/login");
    await rename(log, `${log}.1`);
    run.child.kill("SIGHUP");
    // A request that is served before the signal is logged in the file that was moved away.
    await expect.poll(() => existsSync(log), { timeout: 20_000 }).toBe(true);
    await visit("__svc__/openapi.json");
    await has(log, "/__svc__/openapi.json");
    await has(`${log}.1`, "/__svc__/login");
    await rename(logs, `${logs}-moved`);
    run.child.kill("SIGHUP");
    await visit("__svc__/health");
    await has(join(`${logs}-moved`, "service.log"), "The log file could not be opened again");
    run.child.kill("SIGTERM");
    expect(await run.ended).toBe(0);
  });

  it("ends API keys that the configuration no longer has, and changes all accounts or none", async () => {
    leaveUndescribed("GET", "/home/");
    const accountsFile = join(await makeFolder(), "accounts.json");
    const input = "secret of alice";
    const added = ["account", "add", "alice", "--file", accountsFile];
    expect(await runCommand(added, input)).toMatchObject({ status: 0 });
    const { stdout: key } = await runCommand(["key", "create", "--account", "alice", "--file", accountsFile]);
    const { accounts } = JSON.parse(await readFile(accountsFile, "utf8")) as { accounts: { username: string }[] };
    const [alice] = accounts;
    const members = { storage: { type: "memory" }, groups: { staff: {} } };
    const file = await configure({ ...members, authentication: [{ type: "accounts", accounts }] });
    const save = (authentication: object[], more: object = {}) =>
      writeFile(file, JSON.stringify({ listen: { port: 0 }, ...members, ...more, authentication }));
    const run = await startServer(["serve", "--config", file]);
    const status = async (Authorization: string) =>
      (await fetch(`${run.url}home/`, { headers: { Authorization, Accept: "application/json" } })).status;
    const [bearer, bob] = [`Bearer ${key.trim()}`, `Basic ${btoa("bob:secret of bob")}`];
    expect([await status(bearer), await status(bob)]).toEqual([200, 401]);

    const keyless = { ...alice, keys: [] };
    const bobs = { username: "bob", password: "secret of bob", group: "new" };
    await save([{ type: "accounts", accounts: [keyless, bobs] }], { groups: { staff: {}, new: {} } });
    run.child.kill("SIGHUP");
    const reason = "authentication[0].accounts[1].group: is not a configured group in the running service";
    await waitFor(() => (linesWith(run, reason) > 0 ? true : undefined), run);
    expect([await status(bearer), await status(bob)]).toEqual([200, 401]);

    await save([
      { type: "accounts", accounts: [keyless] },
      { type: "accounts", accounts: [bobs] },
    ]);
    run.child.kill("SIGHUP");
    await waitFor(() => (linesWith(run, "could not be read again") > 1 ? true : undefined), run);

    await save([{ type: "accounts", accounts: [keyless, { ...bobs, group: "staff" }] }]);
    run.child.kill("SIGHUP");
    await waitFor(() => (linesWith(run, "The accounts were read again.") > 0 ? true : undefined), run);
    expect([await status(bearer), await status(bob)]).toEqual([401, 200]);
  });

  it("changes accounts also after a secret was rotated, which it names as one that needs a restart", async () => {
    leaveUndescribed("GET", "/home/");
    const [alice, bob] = ["alice", "bob"].map((username) => ({ username, password: `secret of ${username}` }));
    const remote = { type: "http", url: "http://127.0.0.1:9/", username: "fileferry", testAtStart: false };
    const toMethods = (accounts: unknown[]) => [
      { type: "accounts", accounts },
      { ...remote, password: { file: "secret.txt" } },
    ];
    const file = await configure({ storage: { type: "memory" }, authentication: toMethods([alice]) });
    const secret = join(dirname(file), "secret.txt");
    await writeFile(secret, "the former secret");
    const run = await startServer(["serve", "--config", file]);
    await writeFile(secret, "the next secret");
    const config = JSON.parse(await readFile(file, "utf8")) as object;
    await writeFile(file, JSON.stringify({ ...config, authentication: toMethods([alice, bob]) }));
    run.child.kill("SIGHUP");
    await waitFor(() => (linesWith(run, "The accounts were read again.") > 0 ? true : undefined), run);
    const headers = { Authorization: `Basic ${btoa("bob:secret of bob")}`, Accept: "application/json" };
    expect((await fetch(`${run.url}home/`, { headers })).status).toBe(200);
    expect(linesWith(run, '{"keys":["authentication[1].password"]}')).toBe(1);
    expect(run.stderr()).not.toContain("the next secret");
  });

  it("says what is wrong with an accounts file, that it is right again, and which keys need a restart", async () => {
    const folder = await makeFolder();
    const [file, accounts] = [join(folder, "fileferry.json"), join(folder, "accounts.json")];
    const good = JSON.stringify({ accounts: [{ username: "alice", password: "secret of alice" }] });
    const save = (more: object) =>
      writeFile(
        file,
        JSON.stringify({
          listen: { port: 0 },
          storage: { type: "memory" },
          authentication: [{ type: "accounts", file: "accounts.json" }],
          ...more,
        }),
      );
    await writeFile(accounts, good);
    await save({});
    const run = await startServer(["serve", "--config", file]);
    const reloadUntil = async (text: string): Promise<void> => {
      run.child.kill("SIGHUP");
      await waitFor(() => (linesWith(run, text) > 0 ? true : undefined), run);
    };
    await writeFile(accounts, '{\n  "accounts": [');
    await reloadUntil("The accounts could not be read again, and stay as they were.");
    expect(run.stderr()).toContain(`authentication[0].file: ${accounts}: line 2, column 16: is not valid JSON: `);
    expect(run.stderr()).not.toContain("The accounts were read again.");
    expect(run.stderr()).not.toContain("stack");
    await writeFile(accounts, good);
    await reloadUntil("The accounts were read again.");
    expect(run.stderr()).not.toContain("need a restart");
    await save({ basePath: "/files", limits: { loginAttempts: 3 } });
    await reloadUntil('These keys have changed and need a restart. {"keys":["basePath","limits"]}');
    run.child.kill("SIGTERM");
    expect(await run.ended).toBe(0);
    expect(run.stderr()).toMatch(/^info: The service is running\. \{"version":"[\d.]+","node":"v[\d.]+","folder":"/m);
    expect(run.stderr()).toMatch(/\nStopping\.\n(?:info: .*\n)*Stopped\.\n$/);
  });

  it("keeps the service with an account whose group is missing, as its start does, and names the account", async () => {
    leaveUndescribed("GET", "/home/");
    const folder = await makeFolder();
    const accounts = join(folder, "accounts.json");
    const file = await configure({
      storage: { type: "memory" },
      groups: { staff: {} },
      authentication: [{ type: "accounts", file: accounts }],
    });
    const add = (name: string, group: string) =>
      runCommand(["account", "add", name, "--file", accounts, "--group", group], `secret of ${name}`);
    await add("alice", "staff");
    expect(await add("zed", "nosuch")).toMatchObject({ status: 0 });
    const run = await startServer(["serve", "--config", file]);
    const status = async (name: string) => {
      const headers = { Authorization: `Basic ${btoa(`${name}:secret of ${name}`)}`, Accept: "application/json" };
      return (await fetch(`${run.url}home/`, { headers })).status;
    };
    const zed = "accounts[1].group: nosuch is not a configured group";
    const all = (...problems: string[]): string =>
      `error: Accounts of the accounts file cannot log in. ${JSON.stringify({ file: accounts, problems })}\n`;
    expect(linesWith(run, all(zed))).toBe(1);
    expect([await status("alice"), await status("zed")]).toEqual([200, 401]);

    run.child.kill("SIGHUP");
    await waitFor(() => (linesWith(run, "The accounts were read again.") > 0 ? true : undefined), run);
    expect(linesWith(run, all(zed))).toBe(2);

    await add("yan", "wrong");
    await delay(1100);
    expect([await status("alice"), await status("yan")]).toEqual([200, 401]);
    expect(linesWith(run, all(zed, "accounts[2].group: wrong is not a configured group"))).toBe(1);
    run.child.kill("SIGTERM");
    expect(await run.ended).toBe(0);
  });

  it("is not needed for a certificate that is renewed", { timeout: 40_000 }, async () => {
    const folder = await makeFolder();
    const file = join(folder, "fileferry.json");
    const listen = { port: 0, tls: { key: "key.pem", cert: "cert.pem" } };
    const authentication = [{ type: "accounts", accounts: [{ username: "alice", password: "secret of alice" }] }];
    makeCertificate(folder, { subject: "/CN=before", altNames: "IP:127.0.0.1" });
    await writeFile(file, JSON.stringify({ listen, authentication, storage: { type: "memory" } }));
    const run = await startServer(["serve", "--config", file]);
    await delay(200);
    makeCertificate(folder, { subject: "/CN=after", altNames: "IP:127.0.0.1" });
    await waitFor(() => (linesWith(run, "The certificates were read again.") > 0 ? true : undefined), run);
    expect(await commonNameOf(run.url)).toBe("after");
  });
});
