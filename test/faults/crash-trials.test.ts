import { rm } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { amount, reportFigure } from "../support/trust.ts";
import { type CrashEnvironment, createCrashEnvironment } from "./crash/environment.ts";
import { perform } from "./crash/lane.ts";
import { type Kind, makeOperation } from "./crash/operations.ts";
import { changePassword } from "./crash/passwords.ts";
import { bundleCommand } from "./crash/program.ts";
import { countCalls, SCENARIOS } from "./crash/scenarios.ts";
import { killAt, mayTrace } from "./crash/strace.ts";
import { createRandom, type Random } from "./cut-requests.ts";

/**
 * How many processes are killed at random moments, and by which seed: `CRASHES=60 CRASH_SEED=1 npx vitest run
 * test/faults/crash-trials.test.ts`.
 */
const TRIALS = Number(process.env.CRASHES ?? amount({ short: 6, ci: 12, long: 1000 }));
const SEED = Number(process.env.CRASH_SEED ?? Date.now() % 1_000_000);
/** How many trials one folder has. */
const TRIALS_OF_AN_ENVIRONMENT = 60;
const KINDS: readonly Kind[] = ["uploads", "overwrites", "deletions", "moves", "accounts"];
/** How many answers the first trial waits for: on a busy machine the others may be killed before they have any. */
const SURE_ANSWERS = 60;
/** How many accounts change their passwords at once in the trials of that kind. */
const CHANGES = 3;
/** How long requests may take to end without their server. */
const PATIENCE_MS = 5000;

let program: Awaited<ReturnType<typeof bundleCommand>>;

beforeAll(async () => {
  program = await bundleCommand();
}, 180_000);
afterAll(() => rm(program.folder, { recursive: true, force: true }));

/**
 * Waits for as many answers as are `sure`, then for the moment of a kill: some milliseconds later, the next unfinished
 * file, or a number of answers.
 */
async function waitForMoment(
  environment: CrashEnvironment,
  random: Random,
  kind: Kind,
  answers: () => number,
  sure: number,
): Promise<string> {
  const pause = (milliseconds: number) => setTimeout(milliseconds);
  for (let waited = 0; waited < 60_000 && answers() < sure; waited += 1) await pause(1);
  const way = random.pick(["time", "time", "unfinished file", "answers"]);
  const later = random.below(kind === "accounts" ? 1200 : 250);
  const wanted = random.below(12);
  const soon = random.below(8);
  if (way === "time") {
    await pause(later);
    return `${later} ms after the begin`;
  }
  if (way === "answers") {
    for (let waited = 0; waited < 1000 && answers() < wanted; waited += 1) await pause(1);
    return `after ${wanted} answers`;
  }
  let stop = () => {};
  await Promise.race([
    new Promise<void>((resolve) => {
      stop = environment.onTemporary(resolve);
    }),
    pause(1500),
  ]);
  stop();
  // Less than a millisecond is no pause at all.
  if (soon > 3) await pause(soon - 3);
  return `${Math.max(0, soon - 3)} ms after an unfinished file`;
}

/** Has clients work until the process is killed in the middle of it; how many answers they had. */
async function runTrial(environment: CrashEnvironment, trial: number): Promise<number> {
  const random = createRandom(SEED * 100_003 + trial);
  const kind = KINDS[trial % KINDS.length] as Kind;
  const { url, child } = environment.server();
  let answers = 0;
  let isOver = false;
  const clients = environment.lanes.map(async (lane, index) => {
    const own = createRandom(SEED * 100_003 + trial * 11 + index);
    while (!isOver && (await perform(lane, makeOperation(own, kind, lane.states), url))) answers += 1;
  });
  const changes = Array.from({ length: kind === "accounts" ? CHANGES : 0 }, async () => {
    if (await changePassword(environment.book, url)) answers += 1;
  });
  const working = Promise.all([...clients, ...changes]);
  const sure = trial === 0 ? SURE_ANSWERS : 0;
  const moment = await Promise.race([
    waitForMoment(environment, random, kind, () => answers, sure),
    working.then(() => "never"),
  ]);
  child.kill("SIGKILL");
  isOver = true;
  // Without its server each request ends at once, but `fetch` sometimes never settles while it sends a stream. Such a
  // request has had no answer, like the others.
  const patience = new AbortController();
  await Promise.race([working, setTimeout(PATIENCE_MS, undefined, { signal: patience.signal })]);
  patience.abort();
  await environment.killAndCheck(`seed ${SEED}, trial ${trial}, ${kind}, killed ${moment}`);
  return answers;
}

describe("a process that is killed at random moments (CONTRACT 4.1, SECURITY 7)", () => {
  const timeout = 120_000 + TRIALS * 10_000;
  const title =
    "leaves each file wholly old or new and the accounts file whole, loses nothing that it acknowledged, and the next start removes what is unfinished";

  it(title, { timeout }, async () => {
    const numbers = Array.from({ length: TRIALS }, (_, index) => index);
    let answers = 0;
    // Two environments at a time: one checks while the other is killed.
    async function runHalf(half: number): Promise<void> {
      const own = numbers.filter((number) => Math.floor(number / KINDS.length) % 2 === half);
      for (let at = 0; at < own.length; at += TRIALS_OF_AN_ENVIRONMENT) {
        const environment = await createCrashEnvironment(
          program.command,
          (TRIALS_OF_AN_ENVIRONMENT / KINDS.length) * CHANGES,
        );
        for (const trial of own.slice(at, at + TRIALS_OF_AN_ENVIRONMENT)) answers += await runTrial(environment, trial);
        environment.server().child.kill("SIGKILL");
      }
    }
    await Promise.all([runHalf(0), runHalf(1)]);
    expect(answers, "operations that were acknowledged").toBeGreaterThan(TRIALS);
    reportFigure({ row: "Kills of the process", what: "at random moments", value: TRIALS });
    reportFigure({ row: "Kills of the process", what: "acknowledged changes, none lost", value: answers });
  });
});

describe("a process that is killed between two system calls (skipped where strace cannot watch)", () => {
  beforeAll(() => {
    // One thread for files: the calls of an operation have one order.
    vi.stubEnv("UV_THREADPOOL_SIZE", "1");
  });
  afterAll(() => {
    vi.unstubAllEnvs();
  });

  const title = "has done each step of an operation wholly or not at all, whichever call it was about to make";
  const stride = amount({ short: 23, ci: 13, long: 1 });
  it.skipIf(!mayTrace())(title, { timeout: 600_000 }, async () => {
    const points = SCENARIOS.flatMap(({ name, calls, prepare, run }) =>
      countCalls(calls).map(([call, count]) => ({ name, call, count, prepare, run })),
    );
    // In a short run some of them, others with each seed.
    const chosen = points.filter((_, index) => (index + SEED) % stride === 0);
    const environment = await createCrashEnvironment(program.command, chosen.length + 1);
    let reached = 0;
    for (const { name, call, count, prepare, run } of chosen) {
      const { url, child } = environment.server();
      await prepare(environment, url);
      const killing = await killAt(child.pid ?? 0, call, count);
      const isAnswered = await run(environment, url);
      await killing.stop();
      if (!isAnswered) reached += 1;
      await environment.killAndCheck(`seed ${SEED}, ${name}, killed before ${call} ${count}`);
    }
    environment.server().child.kill("SIGKILL");
    expect(reached, "points that were reached").toBeGreaterThan(chosen.length / 2);
    reportFigure({ row: "Kills of the process", what: "between two system calls", value: reached });
  });
});
