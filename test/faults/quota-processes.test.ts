import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { createClient } from "redis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { StorageAdapter } from "../../src/contracts/storage-adapter.ts";
import { createDiskStorage } from "../../src/storage/disk.ts";
import { createQuotaStorage } from "../../src/storage/quota.ts";
import { createRedisStore } from "../../src/stores/redis.ts";
import { hasRedis, redisNote, startRedis, type TestRedis } from "../support/redis.ts";
import { createBucket, type S3Bucket, s3Missing } from "../support/s3/server.ts";
import { amount, reportFigure } from "../support/trust.ts";
import { createRandom } from "./cut-requests.ts";
import type { Work } from "./quota/program.ts";
import { buildProgram, runProgram } from "./uploads/run.ts";

const KILLS = Number(process.env.KILLS ?? amount({ short: 6, long: 100 }));
const SEED = Number(process.env.KILL_SEED ?? Date.now() % 1_000_000);
const NEVER = { milliseconds: 600_000, lines: Number.POSITIVE_INFINITY };
/** After this time nothing that a killed process has reserved counts any more. */
const LEASE_MS = 11 * 60_000;

describe.skipIf(!hasRedis && process.env.CI === undefined)(`a quota of several processes${redisNote}`, () => {
  let redis: TestRedis;
  let client: ReturnType<typeof createClient>;
  let built: Awaited<ReturnType<typeof buildProgram>>;

  beforeAll(async () => {
    [redis, built] = await Promise.all([startRedis(), buildProgram("quota")]);
    client = createClient({ url: redis.url });
    client.on("error", () => undefined);
    await client.connect();
  });
  afterAll(async () => {
    client.destroy();
    await Promise.all([redis.stop(), rm(built.folder, { recursive: true, force: true })]);
  });

  async function makeRoot(): Promise<string> {
    const root = await mkdtemp(join(tmpdir(), "fileferry-quota-"));
    return root;
  }

  function run(work: Omit<Work, "redis">, kill = NEVER) {
    return runProgram(built.program, [JSON.stringify({ ...work, redis: redis.url } satisfies Work)], kill);
  }

  /** The storage as another process has it, later. */
  function quotaOf(inner: StorageAdapter, limit: Work["limit"], later = 0) {
    const options = { store: createRedisStore(client), folders: [{ path: "/", ...limit }] };
    return createQuotaStorage(inner, { ...options, clock: () => Date.now() + later }).quota;
  }

  /** 200 writers at once in two processes, each file under a name of its own: what is stored only grows. */
  async function race(storage: Work["storage"], inner: StorageAdapter): Promise<void> {
    const limit = { bytes: 300_000, files: 150 };
    const own = { storage, limit, maxFileBytes: 5000, files: 120, atOnce: 100, changes: false };
    await client.flushAll();
    let isRunning = true;
    const watching = (async () => {
      while (isRunning) {
        const { bytes, files } = await measure(inner);
        expect(bytes).toBeLessThanOrEqual(limit.bytes);
        expect(files).toBeLessThanOrEqual(limit.files);
        await delay(20);
      }
    })();
    const runs = await Promise.all(["a", "b"].map((name) => run({ ...own, name })));
    isRunning = false;
    await watching;
    const lines = runs.flatMap((one) => one.lines);
    expect(lines.filter((line) => line.startsWith("refused")).length).toBeGreaterThan(0);
    const stored = await measure(inner);
    expect(stored.files).toBe(lines.filter((line) => line.startsWith("stored")).length);
    const quota = quotaOf(inner, limit);
    expect(await quota.usage("/")).toEqual({ ...stored, reservedBytes: 0, reservedFiles: 0 });
  }

  it("is never exceeded by 200 writers in two processes on a disk", async () => {
    const root = await makeRoot();
    await race({ root }, createDiskStorage({ root }));
    await rm(root, { recursive: true });
  }, 120_000);

  it.skipIf(s3Missing !== undefined)(
    "is never exceeded by 200 writers in two processes on S3",
    async () => {
      const bucket: S3Bucket = await createBucket();
      const { endpoint, accessKeyId, secretAccessKey } = bucket;
      await race({ s3: { bucket: bucket.bucket, endpoint, accessKeyId, secretAccessKey } }, bucket.storage());
    },
    300_000,
  );

  it("is not exceeded by a process that was stopped for longer than its lease", async () => {
    const root = await makeRoot();
    await client.flushAll();
    // Ten minutes of a lease pass in a second.
    const clock = { speed: 600, since: Date.now() };
    const limit = { bytes: 300_000, files: 150 };
    const own = { storage: { root }, limit, changes: false, clock, redis: redis.url };
    const late = { ...own, name: "late", maxFileBytes: 200_000, files: 1, atOnce: 1, slowMs: 1000 };
    const stopped = spawn(process.execPath, [built.program, JSON.stringify(late satisfies Work)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const lines = createInterface({ input: stopped.stdout })[Symbol.asyncIterator]();
    expect((await lines.next()).value).toBe("sending");
    await delay(300);
    stopped.kill("SIGSTOP");
    await delay(1500);
    const others = await run({ ...own, name: "other", maxFileBytes: 200_000, files: 1, atOnce: 1, slowMs: 10 });
    expect(others.lines).toEqual(["sending", "stored other-0"]);
    stopped.kill("SIGCONT");
    expect((await lines.next()).value).toBe("refused late-0");
    await once(stopped, "exit");
    expect(await measure(createDiskStorage({ root }))).toEqual({ bytes: 200_000, files: 1 });
    await rm(root, { recursive: true });
  }, 60_000);

  it(`is right after kills at random moments and one recount (seed ${SEED})`, async () => {
    const random = createRandom(SEED);
    const root = await makeRoot();
    const inner = createDiskStorage({ root });
    const limit = { bytes: 300_000, files: 120 };
    const own = { storage: { root }, limit, maxFileBytes: 8000, files: 100_000, atOnce: 20, changes: true };
    await client.flushAll();
    let kills = 0;
    for (let round = 0; kills < KILLS; round += 1) {
      const kill = () => ({ milliseconds: 400 + random.below(600), lines: 1 + random.below(400) });
      const runs = await Promise.all(["a", "b"].map((name) => run({ ...own, name: `${name}${round}` }, kill())));
      kills += runs.filter(({ isKilled }) => isKilled).length;
      const stored = await measure(inner);
      expect(stored.bytes).toBeLessThanOrEqual(limit.bytes);
      expect(stored.files).toBeLessThanOrEqual(limit.files);
      const quota = quotaOf(inner, limit, LEASE_MS);
      expect(await quota.recount("/")).toEqual({ ...stored, reservedBytes: 0, reservedFiles: 0 });
      // Half of the room is free again for the next round.
      for (const name of (await namesIn(root)).filter((_, index) => index % 2 === 0)) await rm(join(root, name));
      await quota.recount("/");
    }
    reportFigure({ row: "Kills of processes with a quota", what: "the count right after one recount", value: kills });
    await rm(root, { recursive: true });
  }, 600_000);
});

/** What is stored in the root of a storage. */
async function measure(storage: StorageAdapter): Promise<{ bytes: number; files: number }> {
  let [bytes, files] = [0, 0];
  for await (const { kind, size } of storage.list("/")) {
    if (kind !== "file") continue;
    bytes += size;
    files += 1;
  }
  return { bytes, files };
}

async function namesIn(root: string): Promise<readonly string[]> {
  const names = await readdir(root);
  const isFile = await Promise.all(names.map(async (name) => (await stat(join(root, name))).isFile()));
  return names.filter((_, index) => isFile[index]);
}
