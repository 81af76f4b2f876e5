import { chmod, rename } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ensureBuilt, makeFolder, startServer } from "../support/built.ts";
import { findFreePort } from "../support/nginx.ts";
import { hasRedis, redisNote, startRedis, type TestRedis } from "../support/redis.ts";
import { configure } from "./configure.ts";

beforeAll(ensureBuilt);

async function ask(port: number): Promise<readonly [status: number, text: string]> {
  const response = await fetch(`http://127.0.0.1:${port}/ready`);
  return [response.status, await response.text()];
}

describe("the health of fileferry serve", () => {
  it("is not logged", async () => {
    const config = await configure({ storage: { type: "memory" }, basePath: "/files" });
    const run = await startServer(["serve", "--config", config]);
    expect((await fetch(`${run.url}__svc__/health`)).status).toBe(204);
    expect((await fetch(`${run.url}__svc__/health`, { method: "PUT" })).status).toBe(405);
    expect((await fetch(`${run.url}__svc__/login`)).status).toBe(200);
    run.child.kill("SIGTERM");
    await run.ended;
    expect(run.stderr()).not.toContain("GET /files/__svc__/health");
    expect(run.stderr()).toMatch(/PUT \/files\/__svc__\/health 405.*GET \/files\/__svc__\/login 200/s);
  });
});

describe("/ready on the address of the metrics", () => {
  it("is 204 while the storage can be used, and says why it cannot", async () => {
    const root = join(await makeFolder(), "files");
    const port = await findFreePort();
    const config = await configure({ storage: { type: "disk", root: "." }, metrics: { port } });
    const run = await startServer(["serve", "--config", config]);
    expect(await ask(port)).toEqual([204, ""]);
    expect((await fetch(`http://127.0.0.1:${port}/ready`, { method: "POST" })).status).toBe(405);
    expect((await fetch(`http://127.0.0.1:${port}/toString`)).status).toBe(404);
    await rename(join(config, ".."), root);
    await delay(1100);
    expect(await ask(port)).toEqual([503, "storage: does not exist\n"]);
    await rename(root, join(config, ".."));
    await delay(1100);
    expect(await ask(port)).toEqual([204, ""]);
    run.child.kill("SIGTERM");
    expect(await run.ended).toBe(0);
  });

  it("is 503 while the service finishes its last requests", async () => {
    const port = await findFreePort();
    const config = await configure({ storage: { type: "memory" }, metrics: { port } });
    const run = await startServer(["serve", "--config", config]);
    const upload = new TransformStream<Uint8Array, Uint8Array>();
    const writer = upload.writable.getWriter();
    const headers = { Authorization: `Basic ${btoa("alice:secret of alice")}` };
    const init = { method: "PUT", headers, body: upload.readable, duplex: "half" } as const;
    const response = fetch(`${run.url}home/a`, init);
    await writer.write(new Uint8Array(10));
    await delay(200);
    run.child.kill("SIGTERM");
    await delay(200);
    expect(await ask(port)).toEqual([503, "The service is stopping.\n"]);
    await writer.close();
    expect((await response).status).toBe(201);
    expect(await run.ended).toBe(0);
  });

  describe.runIf(hasRedis)(`with Redis${redisNote}`, () => {
    let redis: TestRedis;
    beforeAll(async () => {
      redis = await startRedis("secret of redis");
    });
    afterAll(() => redis.stop());

    it.each([[], ["--workers", "2"]])("follows the store %s", async (...flags) => {
      await redis.stop();
      await redis.start();
      const port = await findFreePort();
      const storage = { type: "disk", root: "." };
      const config = await configure({ storage, session: { store: redis.url }, metrics: { port } });
      const run = await startServer(["serve", "--config", config, ...flags]);
      expect(await ask(port)).toEqual([204, ""]);
      await redis.stop();
      await delay(1100);
      const [status, text] = await ask(port);
      expect(status).toBe(503);
      expect(text).toMatch(
        /session\.store: Redis at 127\.0\.0\.1:\d+ cannot be reached: the connection was refused\n$/,
      );
      expect((await fetch(`${run.url}__svc__/health`)).status).toBe(204);
      await redis.start();
      await delay(1100);
      expect(await ask(port)).toEqual([204, ""]);
      run.child.kill("SIGTERM");
      expect(await run.ended).toBe(0);
    });
  });

  it.skipIf(process.getuid?.() === 0)("is 503 if the folder is not writable any more", async () => {
    const root = await makeFolder();
    const port = await findFreePort();
    const run = await startServer([
      "serve",
      "--config",
      await configure({ storage: { type: "disk", root }, metrics: { port } }),
    ]);
    await chmod(root, 0o500);
    expect(await ask(port)).toEqual([503, "storage: permission denied\n"]);
    await chmod(root, 0o700);
    run.child.kill("SIGTERM");
    await run.ended;
  });
});
