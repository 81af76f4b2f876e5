import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { type ClientRequest, type IncomingMessage, request as plainRequest } from "node:http";
import { request as secureRequest } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ensureBuilt, projectFolder } from "../support/built.ts";
import { type Command, startCommand } from "../support/command.ts";
import { findFreePort, findMissingNginx, type Nginx, startNginx } from "../support/nginx.ts";
import { hasRedis, startRedis, type TestRedis } from "../support/redis.ts";
import { createBucket, type S3Bucket, s3Missing } from "../support/s3/server.ts";

const withoutRedis = hasRedis || process.env.CI !== undefined ? undefined : "redis-server is not installed";
const missing = findMissingNginx() ?? withoutRedis ?? s3Missing;
const note = missing === undefined ? "" : ` (skipped: ${missing})`;

const example = join(projectFolder, "examples/cluster");
const JSON_API = { accept: "application/json" };
/**
 * Longer than a part of the S3 storage, so that it goes up in parts; the store knows of the upload when the first bytes
 * are there.
 */
const LARGE = randomBytes(12 * 1024 * 1024 + 7);
const SENT_FIRST = 10 * 1024 * 1024;

interface Answer {
  readonly status: number;
  readonly bytes: Buffer;
}

describe.skipIf(missing !== undefined)(`two processes behind nginx, on one bucket and one Redis${note}`, () => {
  let folder: string;
  let redis: TestRedis;
  let bucket: S3Bucket;
  let nginx: Nginx;
  const ports: number[] = [];
  const processes: Command[] = [];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "fileferry-cluster-"));
    ports.push(await findFreePort(), await findFreePort());
    const port = await findFreePort();
    [redis, bucket, nginx] = await Promise.all([
      startRedis(),
      createBucket(),
      startNginx(port, ports, "cluster"),
      ensureBuilt(),
    ]);
    await writeConfiguration();
    processes.push(...(await Promise.all([launch(0), launch(1)])));
  }, 180_000);

  afterAll(async () => {
    for (const { process: child } of processes) child.kill("SIGKILL");
    await nginx?.stop();
    await redis?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  /** Those of the example, with what belongs to this test. */
  async function writeConfiguration(): Promise<void> {
    const config = JSON.parse(await readFile(join(example, "fileferry.json"), "utf8"));
    const { accounts } = JSON.parse(await readFile(join(example, "accounts.json"), "utf8"));
    const more = ["bob", "carol", "dave"].map((username) => ({ username, password: "secret" }));
    const own = {
      ...config,
      publicOrigin: nginx.origin,
      storage: { ...config.storage, bucket: bucket.bucket, endpoint: bucket.endpoint },
      session: { store: redis.url },
    };
    await writeFile(join(folder, "fileferry.json"), JSON.stringify(own));
    await writeFile(join(folder, "accounts.json"), JSON.stringify({ accounts: [...accounts, ...more] }));
  }

  /** One process; all of them have the same configuration. */
  function launch(index: number): Promise<Command> {
    const args = ["serve", "--config", join(folder, "fileferry.json"), "--port", `${ports[index]}`, "--quiet"];
    const keys = { AWS_ACCESS_KEY_ID: bucket.accessKeyId, AWS_SECRET_ACCESS_KEY: bucket.secretAccessKey };
    return startCommand(args, keys);
  }

  /** Where requests go: to one process past nginx, or to nginx. */
  function originOf(where: 0 | 1 | "nginx"): string {
    return where === "nginx" ? nginx.origin : `http://127.0.0.1:${ports[where]}`;
  }

  /** A request that is not ended yet; its answer is 0 where the connection broke. */
  function open(where: 0 | 1 | "nginx", method: string, path: string, headers: object) {
    const options = { method, headers: { ...JSON_API, ...headers }, agent: false };
    const url = originOf(where) + path;
    const request: ClientRequest =
      where === "nginx" ? secureRequest(url, { ...options, ca: nginx.certificate }) : plainRequest(url, options);
    return { request, answer: read(request).catch((): Answer => ({ status: 0, bytes: Buffer.alloc(0) })) };
  }

  async function call(
    where: 0 | 1 | "nginx",
    method: string,
    path: string,
    headers: object = {},
    body: string | Buffer = "",
  ): Promise<Answer> {
    const { request, answer } = open(where, method, path, headers);
    request.end(body);
    return answer;
  }

  async function logIn(where: 0 | 1 | "nginx", username: string, password = "secret", from = "192.0.2.1") {
    const headers = { "content-type": "application/json", "x-forwarded-for": from };
    const body = JSON.stringify({ username, password });
    const { status, bytes } = await call(where, "POST", "/__svc__/login", headers, body);
    const session = status === 200 ? `session ${JSON.parse(`${bytes}`).results[0].session}` : "";
    return { status, headers: { authorization: session } };
  }

  /** The names in the home folder, as one of them lists it. */
  async function namesOf(where: 0 | 1 | "nginx", headers: object): Promise<readonly string[]> {
    const { bytes } = await call(where, "GET", "/home/", headers);
    return JSON.parse(`${bytes}`).content.map(({ name }: { name: string }) => name);
  }

  /** Starts uploads, one through each process: nginx distributes them in rotation. */
  function beginUploads(names: readonly string[], headers: object, bytes: Buffer) {
    return names.map((name) => {
      const length = { "content-length": LARGE.byteLength };
      const upload = open("nginx", "PUT", `/home/${name}`, { ...headers, ...length });
      upload.request.write(bytes);
      return { name, ...upload };
    });
  }

  it("a session of one holds in the other, and what one stores the other has at once", async () => {
    const { headers } = await logIn(0, "alice");
    expect((await call(1, "PUT", "/home/direct.txt", headers, "direct")).status).toBe(201);
    expect((await call("nginx", "PUT", "/home/large.bin", headers, LARGE)).status).toBe(201);
    for (const where of [0, 1, "nginx"] as const) {
      expect(await namesOf(where, headers)).toEqual(expect.arrayContaining(["direct.txt", "large.bin"]));
      expect((await call(where, "GET", "/home/large.bin", headers)).bytes.equals(LARGE)).toBe(true);
    }
    expect((await call(1, "POST", "/__svc__/logout", headers)).status).toBe(204);
    expect((await call(0, "GET", "/home/", headers)).status).toBe(401);
  });

  it("of creations of one file on both at once, one succeeds", async () => {
    const { headers } = await logIn("nginx", "alice");
    const once = { ...headers, "if-none-match": "*" };
    const answers = await Promise.all([0, 1].map((at) => call(at as 0 | 1, "PUT", "/home/only", once, `by ${at}`)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 412]);
  });

  it("ten failed logins, spread over both, lock their address out of either, but no owner elsewhere", async () => {
    const from = "203.0.113.9";
    for (let attempt = 0; attempt < 10; attempt += 1) {
      expect((await logIn((attempt % 2) as 0 | 1, "bob", "wrong", from)).status).toBe(401);
    }
    for (const where of [0, 1] as const) {
      const [byName, byAddress, owner, other] = await Promise.all([
        logIn(where, "bob", "secret", from),
        logIn(where, "dave", "secret", from),
        logIn(where, "bob", "secret", "192.0.2.7"),
        logIn(where, "dave", "secret", "192.0.2.7"),
      ]);
      expect([byName, byAddress, owner, other].map(({ status }) => status)).toEqual([401, 401, 200, 200]);
    }
  });

  it("a password that changes in one counts in the other at once, where other sessions end", async () => {
    for (const [here, there, former, next] of [
      [0, 1, "secret", "changed at last 1"],
      [1, 0, "changed at last 1", "changed at last 2"],
    ] as const) {
      const [own, other] = [await logIn(here, "carol", former), await logIn(there, "carol", former)];
      const body = JSON.stringify({ current_password: former, new_password: next });
      const fields = { ...own.headers, "content-type": "application/json" };
      expect((await call(here, "POST", "/home/__svc__/password-update", fields, body)).status).toBe(200);
      const answers = await Promise.all([
        call(there, "GET", "/home/", own.headers),
        call(there, "GET", "/home/", other.headers),
        call(here, "GET", "/home/", other.headers),
      ]);
      expect(answers.map(({ status }) => status)).toEqual([200, 401, 401]);
      expect([(await logIn(there, "carol", former)).status, (await logIn(there, "carol", next)).status]).toEqual([
        401, 200,
      ]);
    }
    const { accounts } = JSON.parse(await readFile(join(folder, "accounts.json"), "utf8"));
    expect(accounts.map(({ password }: { password: string }) => password.startsWith("$scrypt$"))).toEqual([
      false,
      false,
      true,
      false,
    ]);
  });

  it("an upload in parts that its client breaks off leaves no parts", async () => {
    const { headers } = await logIn("nginx", "alice");
    const [upload] = beginUploads(["cut"], headers, LARGE.subarray(0, SENT_FIRST));
    await expect.poll(() => bucket.openUploads(), { timeout: 10_000 }).toEqual(["alice/cut"]);
    upload?.request.destroy();
    await expect.poll(() => bucket.openUploads(), { timeout: 10_000 }).toEqual([]);
    expect((await call("nginx", "GET", "/home/cut", headers)).status).toBe(404);
  });

  it("SIGTERM to one: its upload is finished, and the other gets all that is new", async () => {
    const { headers } = await logIn("nginx", "alice");
    const names = ["drained-1", "drained-2"];
    const uploads = beginUploads(names, headers, LARGE.subarray(0, SENT_FIRST));
    await expect.poll(() => bucket.openUploads(), { timeout: 10_000 }).toEqual(["alice/drained-1", "alice/drained-2"]);
    const child = processes[0]?.process;
    child?.kill("SIGTERM");
    // From here on its port is closed, and it is there still.
    await expect.poll(async () => (await call(0, "GET", "/home/", headers)).status).toBe(0);
    expect(child?.exitCode).toBe(null);
    const commands = { ...headers, "content-type": "application/json" };
    for (let index = 0; index < 6; index += 1) {
      const body = JSON.stringify({ commands: [{ command: "create-folder", target: `made ${index}` }] });
      expect((await call("nginx", "POST", "/home/", commands, body)).status).toBe(200);
      expect((await call("nginx", "PUT", `/home/put-${index}`, headers, "text")).status).toBe(201);
    }
    expect(child?.exitCode).toBe(null);
    for (const { request } of uploads) request.end(LARGE.subarray(SENT_FIRST));
    expect(await Promise.all(uploads.map(async ({ answer }) => (await answer).status))).toEqual([201, 201]);
    if (child?.exitCode === null) await once(child, "exit");
    expect(child?.exitCode).toBe(0);
    for (const name of names) {
      expect((await call("nginx", "GET", `/home/${name}`, headers)).bytes.equals(LARGE)).toBe(true);
    }
    expect(await bucket.openUploads()).toEqual([]);
    processes[0] = await launch(0);
    // So long nginx leaves it out, from the last request that it refused, which may have been just now.
    await delay(2100);
  });

  it("SIGKILL to one amid an upload: the former file stays, and the client's next try is the other's", async () => {
    const { headers } = await logIn(0, "alice");
    const names = ["killed-1", "killed-2"];
    for (const name of names) await call(1, "PUT", `/home/${name}`, headers, "former");
    // Both are in turn again.
    for (let turn = 0; turn < 4; turn += 1) await call("nginx", "GET", "/home/", headers);
    const uploads = beginUploads(names, headers, LARGE.subarray(0, SENT_FIRST));
    await expect.poll(() => bucket.openUploads(), { timeout: 10_000 }).toEqual(["alice/killed-1", "alice/killed-2"]);
    processes[0]?.process.kill("SIGKILL");
    const ended = await Promise.race(uploads.map(async ({ name, answer }) => ({ name, ...(await answer) })));
    expect(ended.status).toBe(502);
    for (const name of names) {
      expect(`${(await call("nginx", "GET", `/home/${name}`, headers)).bytes}`).toBe("former");
    }
    const goingOn = uploads.find(({ name }) => name !== ended.name);
    goingOn?.request.end(LARGE.subarray(SENT_FIRST));
    expect((await goingOn?.answer)?.status).toBe(201);
    expect((await call("nginx", "PUT", `/home/${ended.name}`, headers, LARGE)).status).toBe(201);
    for (const name of names) {
      expect((await call("nginx", "GET", `/home/${name}`, headers)).bytes.equals(LARGE)).toBe(true);
    }
    // No process knows of the parts of the killed one any more. The bucket's lifecycle rule removes them.
    expect(await bucket.openUploads()).toEqual([`alice/${ended.name}`]);
    expect(nginx.log()).not.toMatch(/no live upstreams|\[(?:emerg|alert|crit)\]/);
  });

  it("Redis gone: all is 503 until it is back, also an upload that cannot ask whether its login has ended", async () => {
    const { headers } = await logIn("nginx", "alice");
    const [upload] = beginUploads(["through"], headers, LARGE.subarray(0, SENT_FIRST));
    await expect.poll(() => bucket.openUploads(), { timeout: 10_000 }).toContain("alice/through");
    await redis.stop();
    const answers = await Promise.all([call("nginx", "GET", "/home/", headers), logIn("nginx", "alice")]);
    expect(answers.map(({ status }) => status)).toEqual([503, 503]);
    // An upload that took less than a second does not ask.
    await delay(1000);
    upload?.request.end(LARGE.subarray(SENT_FIRST));
    expect((await upload?.answer)?.status).toBe(503);
    await expect.poll(() => bucket.openUploads(), { timeout: 10_000 }).not.toContain("alice/through");
    await redis.start();
    await expect.poll(async () => (await logIn("nginx", "alice")).status, { timeout: 10_000 }).toBe(200);
  });
});

async function read(request: ClientRequest): Promise<Answer> {
  request.on("error", () => undefined);
  const [response] = (await once(request, "response")) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return { status: response.statusCode ?? 0, bytes: Buffer.concat(chunks) };
}
