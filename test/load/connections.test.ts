import { execFileSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { amount, reportFigure } from "../support/trust.ts";
import { type Client, eventually, measureWaits, openClient, type Waits } from "./clients.ts";
import { createLoadEnvironment, type LoadEnvironment, type LoadEnvironmentOptions } from "./load-environment.ts";
import { prepareServers, type Usage } from "./server-process.ts";
import type { SlowClient } from "./slow-clients.ts";

const IDLE = amount({ short: 1000, long: 10_000 });
const UPLOADS = amount({ short: 50, long: 500 });
const READERS = amount({ short: 20, long: 100 });
const TIMEOUT = amount({ short: 60_000, long: 900_000 });
const PATIENCE = TIMEOUT / 4;

const MEBIBYTE = 1024 * 1024;
/**
 * What live memory may grow by (SECURITY, "Figures to reach"); the short run has a tenth of the connections, and some
 * room for what is there once.
 */
const IDLE_MEBIBYTES = amount({ short: 10, long: 50 });
/** An upload has a chunk of 64 KiB from its socket; a download a buffer of up to 512 KiB that is being sent. */
const UPLOAD_MEBIBYTES = UPLOADS * 0.2;
const READER_MEBIBYTES = READERS;
/** What is kept of pools and compiled code, however many there were. */
const LEFT_MEBIBYTES = 10;
/** Buffers that nothing has needed for a second or two are let go. */
const UNUSED_MILLISECONDS = 2500;
/** Of others' requests. The short run shares the machine with other tests. */
const WAIT_MILLISECONDS = amount({ short: 2000, long: 100 });
/**
 * Node's own memory of a connection is most of what is resident, and none of ours to save. What the heap keeps in
 * half-empty pages differs from run to run.
 */
const RSS_RATIO = 1.6;
/** How long slow clients may stand still. */
const PERIOD_MILLISECONDS = 1000;

/** The number of descriptors that this process may have; none if the system cannot say. */
const limit = process.platform === "linux" ? execFileSync("sh", ["-c", "ulimit -n"], { encoding: "utf8" }).trim() : "0";
const hasRoom = limit === "unlimited" || Number(limit) >= IDLE + UPLOADS + READERS + 200;
const SKIPPED = "(skipped without /proc, or where a process may have too few descriptors)";

let folder: string;
let program: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "fileferry-load-"));
  program = await prepareServers(folder);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** A server with its clients, gone after the test. */
async function serve(options: Omit<LoadEnvironmentOptions, "uploads"> = {}): Promise<LoadEnvironment> {
  const environment = await createLoadEnvironment(program, folder, { uploads: UPLOADS, ...options });
  onTestFinished(() => environment.server.kill());
  return environment;
}

describe.skipIf(!hasRoom)(
  `${IDLE} idle connections, ${UPLOADS} slow uploads and ${READERS} slow readers ${SKIPPED}`,
  () => {
    it(
      "cost little memory, keep nobody waiting, and leave nothing behind",
      async () => {
        const bare = await measureBare();
        const environment = await serve({ limits: { idleSeconds: 3600 } });
        const { server } = environment;
        const before = await warmUp(environment);
        const descriptors = server.descriptors();
        const idle = await environment.openIdle(IDLE);
        const withIdle = await server.usage();
        const uploads = await environment.beginUploads();
        const withUploads = await server.usage();
        const readers = await environment.beginReaders(READERS);
        const withReaders = await server.usage();
        await expectShortWaits(environment);
        await expectKept(environment, idle, uploads);

        for (const { socket } of [...idle, ...uploads, ...readers]) socket.destroy();
        await eventually("descriptors as before", PATIENCE, () => server.descriptors() <= descriptors);
        expect(await environment.countTemporary()).toBe(0);
        expect(await environment.readUploads()).toEqual({ whole: UPLOADS / 2, former: UPLOADS / 2 });
        await delay(UNUSED_MILLISECONDS);
        const after = await server.usage();
        expect(await server.end(0)).toBe(0);

        reportFigure({ row: "Idle connections", what: "kept at once", value: IDLE });
        expectGrowth("Idle connections", before, withIdle, IDLE_MEBIBYTES);
        expectRatio(withIdle.rss - before.rss, bare);
        reportFigure({ row: "Slow uploads", what: "at once, with the idle connections", value: UPLOADS });
        expectGrowth("Slow uploads", withIdle, withUploads, UPLOAD_MEBIBYTES);
        reportFigure({ row: "Slow readers", what: "at once, with both", value: READERS });
        expectGrowth("Slow readers", withUploads, withReaders, READER_MEBIBYTES);
        expectGrowth("After idle and slow connections closed", before, after, LEFT_MEBIBYTES);
      },
      TIMEOUT,
    );
  },
);

describe.skipIf(!hasRoom)(`${READERS} downloads and ${UPLOADS} uploads that stand still ${SKIPPED}`, () => {
  it.each([
    ["silent", { idleSeconds: PERIOD_MILLISECONDS / 1000, minBytesPerSecond: 0 }],
    ["too slow", { idleSeconds: 0, minBytesPerSecond: 100_000, throughputWindowSeconds: PERIOD_MILLISECONDS / 1000 }],
  ])(
    "keep no descriptor and no temporary file once they were %s for as long as is set",
    async (how, limits) => {
      const environment = await serve({ limits });
      const before = environment.server.descriptors();
      const clients = [...(await environment.beginUploads()), ...(await environment.beginReaders(READERS))];
      if (how === "silent") for (const client of clients) client.stop();
      const waited = await eventually("the end of them", PATIENCE, () => environment.server.descriptors() <= before);
      // Of an answer node:http sees by the second look only that nothing of it goes out.
      expect(waited).toBeLessThan(8 * PERIOD_MILLISECONDS);
      expect(await environment.countTemporary()).toBe(0);
      expect(await environment.readUploads()).toEqual({ whole: 0, former: UPLOADS });
      const what = `until the last descriptor of ${how} ones is closed`;
      const bound = `set: ${PERIOD_MILLISECONDS}`;
      reportFigure({ row: "Stalled transfers", what, value: waited, unit: "ms", bound });
    },
    TIMEOUT,
  );
});

describe.skipIf(!hasRoom)(`a server that ends under ${UPLOADS} uploads and ${READERS} downloads ${SKIPPED}`, () => {
  it(
    "finishes those that can be until its deadline, cuts the others, and leaves their former files",
    async () => {
      const environment = await serve();
      const idle = await environment.openIdle(IDLE / 10);
      const uploads = await environment.beginUploads();
      const readers = await environment.beginReaders(READERS);
      const exit = environment.server.end(amount({ short: 3, long: 20 }));
      await eventually("the end of idle connections", PATIENCE, () => idle.every(({ socket }) => socket.destroyed));
      await expect(openClient(environment.server.port)).rejects.toThrow("ECONNREFUSED");
      const [ended, taken] = [uploads.filter(isEven), readers.filter(isEven)];
      const answers = await Promise.all([...ended, ...taken].map((client) => client.finish()));
      expect(answers.map(({ status }) => status)).toEqual([...ended.map(() => 201), ...taken.map(() => 200)]);
      expect(await exit).toBe(0);
      expect(await environment.countTemporary()).toBe(0);
      expect(await environment.readUploads()).toEqual({ whole: UPLOADS / 2, former: UPLOADS / 2 });
      const row = "Graceful shutdown during transfers";
      reportFigure({ row, what: "finished transfers", value: answers.length });
      reportFigure({
        row,
        what: "aborted by the deadline, without residue",
        value: UPLOADS + READERS - answers.length,
      });
    },
    TIMEOUT,
  );
});

/** The resident memory that as many connections to `node:http` alone take, in bytes. */
async function measureBare(): Promise<number> {
  const environment = await serve({ kind: "bare" });
  const before = await warmUp(environment);
  const idle = await environment.openIdle(IDLE);
  const { rss } = await environment.server.usage();
  for (const { socket } of idle) socket.destroy();
  expect(await environment.server.end(0)).toBe(0);
  return rss - before.rss;
}

/** Code is compiled, pools are filled: what is there once is no connection's. */
async function warmUp({ server, openIdle }: LoadEnvironment): Promise<Usage> {
  const before = server.descriptors();
  for (const { socket } of await openIdle(200)) socket.destroy();
  await eventually("the end of first connections", PATIENCE, () => server.descriptors() <= before);
  return server.usage();
}

/** How long others wait, in the best of three rounds: what other processes of the machine take is no connection's. */
async function expectShortWaits({ server, toGet, toPut }: LoadEnvironment): Promise<void> {
  const row = "Other requests during idle and slow connections";
  const count = amount({ short: 100, long: 1000 });
  for (const [what, toRequest] of [["GET of 1 KiB", toGet] as const, ["PUT of 4 bytes", toPut] as const]) {
    const rounds: Waits[] = [];
    for (let round = 0; round < 3; round += 1) rounds.push(await measureWaits(server.port, count, toRequest));
    const p50 = Math.min(...rounds.map((round) => round.p50));
    const p99 = Math.min(...rounds.map((round) => round.p99));
    reportFigure({ row, what: `median of ${what}`, value: p50, unit: "ms" });
    reportFigure({
      row,
      what: `99th percentile of ${what}`,
      value: p99,
      unit: "ms",
      bound: `below ${WAIT_MILLISECONDS}`,
    });
    expect(p99, what).toBeLessThan(WAIT_MILLISECONDS);
  }
}

/** Expects that no connection was cut to make room: idle connections still answer, and every other upload ends well. */
async function expectKept(
  { toGet }: LoadEnvironment,
  idle: readonly Client[],
  uploads: readonly SlowClient[],
): Promise<void> {
  expect(idle.filter(({ socket }) => socket.destroyed)).toHaveLength(0);
  const again = await Promise.all(idle.slice(0, 100).map(({ exchange }, index) => exchange(toGet(index))));
  expect(again.filter(({ status }) => status !== 200)).toEqual([]);
  const finished = await Promise.all(uploads.filter(isEven).map((client) => client.finish()));
  expect(finished.filter(({ status }) => status !== 201)).toEqual([]);
}

function expectGrowth(row: string, before: Usage, after: Usage, most: number): void {
  const live = (after.live - before.live) / MEBIBYTE;
  const resident = (after.rss - before.rss) / MEBIBYTE;
  reportFigure({ row, what: "more in use", value: live, unit: "MiB", bound: `at most ${Math.round(most)}` });
  reportFigure({ row, what: "more resident", value: resident, unit: "MiB" });
  expect(live, `${row}: MiB in use`).toBeLessThanOrEqual(most);
}

function expectRatio(rss: number, bare: number): void {
  const row = "Idle connections";
  reportFigure({ row, what: "more resident with node:http alone", value: bare / MEBIBYTE, unit: "MiB" });
  reportFigure({ row, what: "times its resident memory", value: rss / bare, bound: `at most ${RSS_RATIO}` });
  // Pages that are there anyway are too much of what fewer connections take.
  if (IDLE === 10_000) expect(rss / bare, "to node:http alone").toBeLessThanOrEqual(RSS_RATIO);
}

function isEven(_client: SlowClient, index: number): boolean {
  return index % 2 === 0;
}
