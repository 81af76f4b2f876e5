import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type CommandRun, ensureBuilt, makeFolder, runCommand, startServer, waitFor } from "../support/built.ts";
import { hasRedis, redisNote, startRedis, type TestRedis } from "../support/redis.ts";
import { watchText } from "../support/secrets/secrets.ts";

const SECRET = "hunter2";
const JSON_API = { Accept: "application/json" };
const basic = (name: string, password: string) => ({ Authorization: `Basic ${btoa(`${name}:${password}`)}` });
const ALICE = basic("alice", "secret");

let redis: TestRedis;
let databases = 0;

beforeAll(async () => {
  await ensureBuilt();
  if (hasRedis) redis = await startRedis(SECRET);
}, 300_000);
afterAll(() => redis?.stop());

/** A configuration in a folder of its own; `file` is its path. */
async function configure(more: object = {}, names: readonly string[] = ["alice"]) {
  const folder = await makeFolder();
  const accounts = names.map((username) => ({ username, password: "secret", home_folder_path: "/" }));
  await writeFile(join(folder, "accounts.json"), JSON.stringify({ accounts }));
  databases += 1;
  const config = {
    listen: { port: 0 },
    storage: { type: "disk", root: "." },
    authentication: [{ type: "accounts", file: "accounts.json" }],
    session: { store: `${redis?.url}/${databases % 16}` },
    limits: { loginAttempts: 1000 },
    ...more,
  };
  const file = join(folder, "fileferry.json");
  await writeFile(file, JSON.stringify(config));
  return { folder, file };
}

/** Each request on a connection of its own, so that they come to all workers. */
async function statusOf(url: string, headers: Readonly<Record<string, string>>, method = "GET", body?: string) {
  const own = { ...JSON_API, ...headers, Connection: "close" };
  const response = await fetch(url, { method, headers: own, ...(body !== undefined && { body }) });
  return { status: response.status, text: await response.text() };
}

async function login(url: string, name: string, password = "secret"): Promise<string | undefined> {
  const body = JSON.stringify({ username: name, password });
  const headers = { "Content-Type": "application/json" };
  const { status, text } = await statusOf(`${url}__svc__/login`, headers, "POST", body);
  return status === 200 ? JSON.parse(text).results[0].session : undefined;
}

/** The workers of a run, by their process IDs. */
async function workersOf({ child }: CommandRun): Promise<number[]> {
  const text = await readFile(`/proc/${child.pid}/task/${child.pid}/children`, "utf8");
  return text.split(" ").filter(Boolean).map(Number);
}

describe("fileferry serve with session.store", () => {
  it.each([
    ["a port where nobody listens", "redis://:hunter2@127.0.0.1:9", "Redis at 127.0.0.1:9 cannot be reached"],
    ["a host that is unknown", "redis://:hunter2@nowhere.invalid", "Redis at nowhere.invalid cannot be reached"],
  ])("ends with status 1 for %s, without the password", async (_what, store, problem) => {
    const { file } = await configure({ session: { store } });
    const { status, stdout, stderr } = await runCommand(["serve", "--config", file]);
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toContain(`${file}: session.store: ${problem}`);
    expect(stderr).not.toContain(SECRET);
  });

  it.skipIf(!hasRedis)(`ends with status 1 for a wrong password, without it${redisNote}`, async () => {
    const wrong = [`redis://:${SECRET}2@127.0.0.1:${redis.port}`, `redis://127.0.0.1:${redis.port}`];
    for (const store of wrong) {
      const { file } = await configure({ session: { store } });
      const { status, stderr } = await runCommand(["serve", "--config", file]);
      expect(status).toBe(1);
      expect(stderr).toMatch(/session\.store: .*(WRONGPASS|NOAUTH)/);
      expect(stderr).not.toContain(SECRET);
    }
  });

  it("ends with status 1 for one that takes the connection and never answers", async () => {
    const silent = createServer().listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as AddressInfo;
    const { file } = await configure({ session: { store: `redis://127.0.0.1:${port}` } });
    const { status, stderr } = await runCommand(["serve", "--config", file]);
    silent.close();
    expect([status, stderr]).toEqual([
      1,
      `${file}: session.store: Redis at 127.0.0.1:${port} cannot be reached: The store did not respond within 5000 ms.\n`,
    ]);
  });

  it.skipIf(!hasRedis)(`answers 503 while it is silent, and ends all the same${redisNote}`, async () => {
    const { file } = await configure();
    const run = await startServer(["serve", "--config", file]);
    const session = await login(run.url, "alice");
    redis.freeze(true);
    onTestFinished(() => redis.freeze(false));
    expect((await statusOf(`${run.url}home/`, { Authorization: `session ${session}` })).status).toBe(503);
    run.child.kill("SIGTERM");
    expect(await run.ended).toBe(0);
  });

  it("ends with status 1 for a database that cannot be opened, and with 2 for a Node without SQLite", async () => {
    const { file } = await configure({ session: { store: "sqlite://nowhere/at/all.db" } });
    const { status, stderr } = await runCommand(["serve", "--config", file]);
    expect(status).toBe(stderr.includes("SQLite needs") ? 2 : 1);
    expect(stderr).toMatch(/session\.store: (.*nowhere\/at\/all\.db: cannot be opened|SQLite needs Node 22\.13)/);
  });

  it.skipIf(!hasRedis)(`keeps sessions over a restart, and ends at once when told to${redisNote}`, async () => {
    const { file } = await configure();
    const first = await startServer(["serve", "--config", file]);
    const session = await login(first.url, "alice");
    first.child.kill("SIGTERM");
    expect(await first.ended).toBe(0);
    const second = await startServer(["serve", "--config", file]);
    expect((await statusOf(`${second.url}home/`, { Authorization: `session ${session}` })).status).toBe(200);
    second.child.kill("SIGTERM");
    expect(await second.ended).toBe(0);
  });
});

describe("fileferry serve --workers", () => {
  it.each([
    ["no session store", ["--workers", "2"], /needs sessions that all workers share: set session\.store/],
    ["a number that is none", ["--workers", "0"], /expected 1 to 999, or auto/],
  ])("ends with status 2 for %s", async (_what, flags, problem) => {
    const folder = await makeFolder();
    const args = ["serve", folder, "--account", "alice:secret", "--port", "0", ...flags];
    const { status, stdout, stderr } = await runCommand(args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toMatch(problem);
  });

  it("ends with status 2 for a storage in memory", async () => {
    const { file } = await configure({ storage: { type: "memory" }, session: { store: "redis://127.0.0.1:9" } });
    const { status, stderr } = await runCommand(["serve", "--config", file, "--workers", "2"]);
    expect(status).toBe(2);
    expect(stderr).toContain("a storage in memory belongs to one process");
  });

  it("is one process for 1, which shares with nobody", async () => {
    const args = ["serve", await makeFolder(), "--account", "alice:secret", "--port", "0", "--workers", "1"];
    const run = await startServer(args);
    expect(await workersOf(run)).toEqual([]);
  });

  it("says once why none of them can start", async () => {
    const { file } = await configure({ session: { store: "redis://127.0.0.1:9" } });
    const { status, stdout, stderr } = await runCommand(["serve", "--config", file, "--workers", "3"]);
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toBe(`${file}: session.store: Redis at 127.0.0.1:9 cannot be reached: the connection was refused\n`);
  });
});

describe.skipIf(!hasRedis)(`fileferry serve by three workers${redisNote}`, () => {
  it("listens once on a free port, and shares sessions, events and metrics", async () => {
    const more = { events: { file: "events.ndjson" }, metrics: { port: 0 } };
    const { folder, file } = await configure({ ...more, metrics: { port: 19_471 } });
    const run = await startServer(["serve", "--config", file, "--workers", "3"]);
    expect(run.stdout()).toMatch(/^Listening on http:\/\/127\.0\.0\.1:[1-9]\d*\/\n$/);
    expect(await workersOf(run)).toHaveLength(3);

    const session = await login(run.url, "alice");
    const headers = { Authorization: `session ${session}` };
    const asked = Array.from({ length: 12 }, (_, index) =>
      statusOf(`${run.url}home/${index}.txt`, headers, "PUT", "text"),
    );
    expect(new Set((await Promise.all(asked)).map(({ status }) => status))).toEqual(new Set([201]));

    await expect
      .poll(async () => (await fetch("http://127.0.0.1:19471/metrics")).text())
      .toMatch(/fileferry_operations_total\{operation="upload",outcome="done"\} 12\n/);
    const text = await (await fetch("http://127.0.0.1:19471/metrics")).text();
    expect(text).toContain('fileferry_requests_total{method="PUT",status="201"} 12\n');
    const processes = [...text.matchAll(/^process_resident_memory_bytes\{process="(.+)"\} \d+$/gm)];
    expect(processes.map(([, name]) => name).sort()).toEqual(["primary", "worker-1", "worker-2", "worker-3"]);
    run.child.kill("SIGTERM");
    expect(await run.ended).toBe(0);
    expect(run.stdout().match(/Listening/g)).toHaveLength(1);
    expect(run.stderr().match(/Stopping/g)).toHaveLength(1);
    const told = await readFile(join(folder, "events.ndjson"), "utf8");
    watchText(() => told);
    const lines = told.trim().split("\n");
    const uploads = lines.map((line) => JSON.parse(line)).filter(({ id }) => id === 40017);
    expect(uploads).toHaveLength(12);
  });

  it("lets a changed password count in all of them at once, and ends the other sessions", async () => {
    const names = Array.from({ length: 4 }, (_, index) => `user${index}`);
    const { folder, file } = await configure({}, names);
    const { url } = await startServer(["serve", "--config", file, "--workers", "3", "--quiet"]);
    const sessions = await Promise.all(names.map(async (name) => [await login(url, name), await login(url, name)]));
    // All at once: the file is rewritten by several workers, and no change is lost.
    const changes = names.map((_name, index) => {
      const body = JSON.stringify({ current_password: "secret", new_password: `changed at last ${index}` });
      const headers = { Authorization: `session ${sessions[index]?.[0]}`, "Content-Type": "application/json" };
      return statusOf(`${url}home/__svc__/password-update`, headers, "POST", body);
    });
    expect((await Promise.all(changes)).map(({ status, text }) => [status, text])).toEqual(
      names.map(() => [200, expect.any(String)]),
    );
    for (const [index, name] of names.entries()) {
      const answers = await Promise.all([
        ...[0, 1, 2].map(() => statusOf(`${url}home/`, basic(name, "secret"))),
        ...[0, 1, 2].map(() => statusOf(`${url}home/`, basic(name, `changed at last ${index}`))),
        ...[0, 1, 0, 1, 0, 1].map((at) =>
          statusOf(`${url}home/`, { Authorization: `session ${sessions[index]?.[at]}` }),
        ),
      ]);
      const expected = [401, 401, 401, 200, 200, 200, 200, 401, 200, 401, 200, 401];
      expect(answers.map(({ status }) => status)).toEqual(expected);
    }
    const { accounts } = JSON.parse(await readFile(join(folder, "accounts.json"), "utf8"));
    expect(accounts.every(({ password }: { password: string }) => password.startsWith("$scrypt$"))).toBe(true);
  });

  it("finishes what is under way in every worker, and exits 0", async () => {
    const { folder, file } = await configure();
    const run = await startServer(["serve", "--config", file, "--workers", "3", "--quiet"]);
    const uploads = Array.from({ length: 6 }, (_, index) => slowUpload(`${run.url}home/slow-${index}`));
    await Promise.all(uploads.map(({ begun }) => begun));
    run.child.kill("SIGTERM");
    await delay(300);
    for (const upload of uploads) upload.finish();
    expect(await Promise.all(uploads.map(({ status }) => status))).toEqual([201, 201, 201, 201, 201, 201]);
    expect(await run.ended).toBe(0);
    for (let index = 0; index < 6; index += 1) {
      expect(await readFile(join(folder, `slow-${index}`), "utf8")).toBe("begun and done");
    }
  });

  it("replaces a worker that dies, on the same port, also when all die", async () => {
    const { file } = await configure();
    const run = await startServer(["serve", "--config", file, "--workers", "3", "--quiet"]);
    // A connection that a worker has just got ends with the worker, without an answer.
    const answers = () =>
      fetch(`${run.url}home/`, { headers: { ...ALICE, Connection: "close" }, signal: AbortSignal.timeout(2000) }).then(
        ({ status }) => status,
        () => undefined,
      );
    const [victim] = await workersOf(run);
    process.kill(victim ?? 0, "SIGKILL");
    await waitFor(() => (run.stderr().includes("A worker ended") ? true : undefined), run);
    await expect.poll(() => workersOf(run), { timeout: 10_000 }).toHaveLength(3);
    expect(await workersOf(run)).not.toContain(victim);
    await expect.poll(answers, { timeout: 15_000 }).toBe(200);
    for (const pid of await workersOf(run)) process.kill(pid, "SIGKILL");
    await expect.poll(answers, { timeout: 15_000 }).toBe(200);
    await expect.poll(() => workersOf(run), { timeout: 15_000 }).toHaveLength(3);
    run.child.kill("SIGTERM");
    expect(await run.ended).toBe(0);
  });

  it("ends with its first process, however that ends", async () => {
    const { file } = await configure();
    const run = await startServer(["serve", "--config", file, "--workers", "2", "--quiet"]);
    const workers = await workersOf(run);
    run.child.kill("SIGKILL");
    await run.ended;
    await expect.poll(() => workers.filter(isAlive), { timeout: 10_000 }).toEqual([]);
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** An upload that waits in its middle, and begins when the service asks for its content. */
function slowUpload(url: string) {
  const headers = { ...ALICE, Expect: "100-continue" };
  const sent = request(url, { method: "PUT", headers, agent: false });
  const status = new Promise<number | undefined>((resolve, reject) => {
    sent.on("error", reject).on("response", (response) => {
      response.resume();
      resolve(response.statusCode);
    });
  });
  const begun = new Promise<void>((resolve) => {
    sent.on("continue", () => sent.write("begun ", () => resolve()));
  });
  sent.flushHeaders();
  return { begun, status, finish: () => sent.end("and done") };
}
