import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { StorageAdapter } from "../../src/contracts/storage-adapter.ts";
import { createDiskStorage } from "../../src/storage/disk.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { exchange, watchEscapes } from "../runtimes/node/raw-client.ts";
import { AUTHORIZATION } from "../support/served.ts";
import { amount, reportFigure } from "../support/trust.ts";
import { type CutEnvironment, countDescriptors, createCutEnvironment } from "./cut-environment.ts";
import { createRandom, makeRequest, TARGETS } from "./cut-requests.ts";

/**
 * How many connections are cut on each storage, and by which seed: `CUTS=1000 CUT_SEED=1 npx vitest run
 * test/faults/random-cuts.test.ts`.
 */
const CUTS = Number(process.env.CUTS ?? amount({ short: 40, ci: 80, long: 10_000 }));
const SEED = Number(process.env.CUT_SEED ?? Date.now() % 1_000_000);
const LANES = Array.from({ length: 8 }, (_, index) => `lane-${index}`);
const TEMPORARY = /^\.fileferry-/;

async function contentOf(storage: StorageAdapter, path: string): Promise<Buffer | undefined> {
  if ((await storage.stat(path)) === undefined) return undefined;
  return Buffer.from(await new Response((await storage.read(path)).body).arrayBuffer());
}

function isSame(one: Buffer | undefined, other: Buffer | undefined): boolean {
  return one === undefined || other === undefined ? one === other : one.equals(other);
}

/** Cuts one connection after the other in a folder of its own, and looks at its files after each. */
async function cutInLane({ storage, cut }: CutEnvironment, lane: string, cuts: readonly number[]): Promise<void> {
  const former = new Map<string, Buffer | undefined>();
  for (const name of TARGETS) former.set(name, await contentOf(storage, `/${lane}/${name}`));
  const large = (await contentOf(storage, "/big.bin")) ?? Buffer.alloc(0);
  for (const number of cuts) {
    const random = createRandom(SEED * 100_003 + number);
    const request = makeRequest(random, lane);
    const { sent, how, answer } = await cut(request, random);
    const what = `seed ${SEED}, cut ${number}: ${request.kind}, ${how} after ${sent} of ${request.bytes.byteLength}`;
    const possible = request.effects.filter(({ from }) => from <= sent);
    for (const name of TARGETS) {
      const found = await contentOf(storage, `/${lane}/${name}`);
      const own = possible.filter((effect) => effect.name === name);
      const isKnown = [former.get(name), ...own.map(({ content }) => content)].some((one) => isSame(one, found));
      expect(isKnown, `${name} is the former or a whole one; ${what}`).toBe(true);
      former.set(name, found);
    }
    expectAcknowledged(answer, request.effects, former, what);
    if (request.readsFrom !== undefined) expectPart(answer, large.subarray(request.readsFrom), what);
    const names: string[] = [];
    for await (const { name } of storage.list(`/${lane}`)) names.push(name);
    expect(
      names.filter((name) => !former.get(name)),
      `members that nobody wrote; ${what}`,
    ).toEqual([]);
  }
}

/** An upload that was answered by 201 is there. */
function expectAcknowledged(
  answer: Buffer,
  effects: readonly { readonly name: string; readonly content: Buffer }[],
  found: ReadonlyMap<string, Buffer | undefined>,
  what: string,
): void {
  const [effect, ...others] = effects;
  if (effect === undefined || others.length > 0 || !answer.toString("latin1", 0, 12).startsWith("HTTP/1.1 201")) return;
  expect(isSame(effect.content, found.get(effect.name)), `what was acknowledged is stored; ${what}`).toBe(true);
}

/** What came of a download before the cut are the bytes of the file, in their places. */
function expectPart(answer: Buffer, content: Buffer, what: string): void {
  const end = answer.indexOf("\r\n\r\n");
  if (end < 0) return;
  const came = answer.subarray(end + 4);
  expect(came.equals(content.subarray(0, came.byteLength)), `${came.byteLength} bytes of the file; ${what}`).toBe(true);
}

/** Cuts a number of connections, some at the same time. */
async function cutMany(environment: CutEnvironment, count: number): Promise<void> {
  const numbers = Array.from({ length: count }, (_, index) => index);
  await Promise.all(
    LANES.map((lane, index) =>
      cutInLane(
        environment,
        lane,
        numbers.filter((number) => number % LANES.length === index),
      ),
    ),
  );
}

async function expectAnswers(port: number): Promise<void> {
  const head = `Host: x\r\nAuthorization: ${AUTHORIZATION}\r\nConnection: close\r\n`;
  const put = await exchange(port, `PUT /home/last HTTP/1.1\r\n${head}Content-Length: 4\r\n\r\nlast`);
  expect(put).toMatch(/^HTTP\/1\.1 201 /);
  expect(await exchange(port, `GET /home/last HTTP/1.1\r\n${head}\r\n`)).toMatch(
    /^HTTP\/1\.1 200 [\s\S]*\r\n\r\nlast$/,
  );
}

/** Of logins that were cut none has left a session: there is one at most for each that came whole. */
function expectFewSessions({ sessions }: CutEnvironment): void {
  const { kept, asked } = sessions();
  expect(kept, `sessions; seed ${SEED}`).toBeLessThanOrEqual(asked);
}

/** The timers that run in this process. */
function countTimers(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
}

async function expectNoneLeft(descriptors: number, timers: number): Promise<void> {
  const what = `seed ${SEED}`;
  await expect
    .poll(countDescriptors, { timeout: 5000, message: `descriptors; ${what}` })
    .toBeLessThanOrEqual(descriptors);
  await expect.poll(countTimers, { timeout: 5000, message: `timers; ${what}` }).toBeLessThanOrEqual(timers);
}

describe("connections that are cut at random, up and down", () => {
  const timeout = 60_000 + CUTS * 200;

  it("leave files whole, nothing behind, and the service at work, on disk (CONTRACT 4.1)", { timeout }, async () => {
    const escapes = watchEscapes();
    const folder = await mkdtemp(join(tmpdir(), "fileferry-cuts-"));
    const storage = () => createDiskStorage({ root: folder, durability: "rename" });
    // What a process opens once and for all is open then.
    const first = await createCutEnvironment(storage(), LANES);
    await cutMany(first, LANES.length);
    await first.close();
    const [descriptors, timers] = [countDescriptors(), countTimers()];

    const environment = await createCutEnvironment(storage(), LANES);
    await cutMany(environment, CUTS);
    await expectAnswers(environment.port);
    expectFewSessions(environment);
    await environment.close();
    await expectNoneLeft(descriptors, timers);
    const names = await readdir(folder, { recursive: true });
    expect(
      names.filter((name) => name.split("/").some((part) => TEMPORARY.test(part))),
      `seed ${SEED}`,
    ).toEqual([]);
    expect([escapes, environment.log.entries]).toEqual([[], []]);
    reportFigure({ row: "Cut connections", what: "on disk, no residue", value: CUTS });
    await rm(folder, { recursive: true });
  });

  it("leave files whole, and the service at work, in memory (CONTRACT 4.1)", { timeout }, async () => {
    const escapes = watchEscapes();
    const [descriptors, timers] = [countDescriptors(), countTimers()];
    const environment = await createCutEnvironment(createMemoryStorage(), LANES);
    await cutMany(environment, CUTS);
    await expectAnswers(environment.port);
    expectFewSessions(environment);
    await environment.close();
    await expectNoneLeft(descriptors, timers);
    expect([escapes, environment.log.entries]).toEqual([[], []]);
    reportFigure({ row: "Cut connections", what: "in memory", value: CUTS });
  });
});
