import type { Coverage } from "./coverage.ts";
import { mutate } from "./mutate.ts";
import { createRandom, type Random } from "./random.ts";
import type { FuzzTarget } from "./target.ts";
import type { Watchdog } from "./watchdog.ts";

/** How a target is fuzzed. */
export interface FuzzOptions {
  readonly seed: number;
  readonly seconds: number;
  /** What is there to begin with. */
  readonly corpus: readonly string[];
  readonly coverage: Coverage;
  readonly watchdog: Watchdog;
  /** Gets each input that has reached something new. */
  readonly onFind?: (input: string) => void;
}

/** What came of it. */
export interface FuzzResult {
  readonly executions: number;
  /** Inputs beyond the corpus that have reached something new. */
  readonly finds: number;
  /** Of the code of the target, from 0 to 1. */
  readonly reached: number;
  readonly failure?: FuzzFailure;
}

/** An input that breaks a promise. */
export interface FuzzFailure {
  readonly input: string;
  readonly error: Error;
}

/** No input may hold up others for longer, in milliseconds (SECURITY, figures). */
const MAX_MILLISECONDS = 100;
/** Others load the machine: what took longer is tried so often again, and its best time counts. */
const TRIES = 5;
/**
 * Inputs that coverage is asked about at once, which takes as long as a hundred of them: more and more, as less and
 * less is new.
 */
const [MIN_BATCH, MAX_BATCH] = [16, 512];
const MAX_LABELS = 2000;

/** Hands one input over. @throws what breaks a promise, its time among them. */
export async function execute(target: FuzzTarget, input: string, watchdog: Watchdog): Promise<string> {
  watchdog.begin(input);
  try {
    const begun = performance.now();
    const running = target.run(input);
    const label = typeof running === "string" ? running : await running;
    if (performance.now() - begun > MAX_MILLISECONDS) await expectTime(target, input);
    return label;
  } finally {
    watchdog.end();
  }
}

/** Of the processor, not of the clock. */
async function expectTime(target: FuzzTarget, input: string): Promise<void> {
  let best = Number.POSITIVE_INFINITY;
  for (let count = 0; count < TRIES && best > MAX_MILLISECONDS; count++) {
    const before = process.cpuUsage();
    await target.run(input);
    const { user, system } = process.cpuUsage(before);
    best = Math.min(best, (user + system) / 1000);
  }
  if (best > MAX_MILLISECONDS) throw new Error(`Broken: it takes ${Math.round(best)} ms of the processor`);
}

/**
 * Makes inputs of a corpus, keeps those that reach something new, and goes on with them until the time is up or one
 * fails.
 */
export async function fuzz(target: FuzzTarget, options: FuzzOptions): Promise<FuzzResult> {
  const { seed, seconds, corpus, coverage, watchdog, onFind } = options;
  const random = createRandom(seed);
  const pool = [...(corpus.length > 0 ? corpus : [""])];
  const labels = new Set<string>();
  const deadline = performance.now() + seconds * 1000;
  let [executions, finds, batchSize] = [0, 0, MIN_BATCH];
  let failure: FuzzFailure | undefined;

  async function tryInput(input: string): Promise<void> {
    executions += 1;
    try {
      const label = await execute(target, input, watchdog);
      if (labels.has(label) || labels.size >= MAX_LABELS) return;
      labels.add(label);
      keep(input);
    } catch (error) {
      failure = { input, error: error instanceof Error ? error : new Error(String(error)) };
    }
  }

  function keep(input: string): void {
    if (pool.includes(input)) return;
    pool.push(input);
    finds += 1;
    onFind?.(input);
  }

  /** Runs a batch; whether it reached something new. */
  async function isNew(batch: readonly string[]): Promise<boolean> {
    for (const input of batch) {
      await tryInput(input);
      if (failure !== undefined) return false;
    }
    return coverage.hasNew();
  }

  /** Finds by halves one of a batch that reached something new, and keeps it. */
  async function locate(batch: readonly string[]): Promise<void> {
    let left = batch;
    while (left.length > 1) {
      const half = left.slice(0, left.length >> 1);
      left = (await isNew(half)) ? half : left.slice(half.length);
      if (failure !== undefined) return;
    }
    const [input = ""] = left;
    await tryInput(input);
    if (coverage.takeNew()) keep(input);
  }

  coverage.forget();
  for (const input of [...pool]) if (failure === undefined) await tryInput(input);
  coverage.takeNew();
  while (failure === undefined && performance.now() < deadline) {
    const batch = Array.from({ length: batchSize }, () => makeInput(target, random, pool));
    const hasFound = await isNew(batch);
    if (hasFound) await locate(batch);
    batchSize = hasFound ? Math.max(MIN_BATCH, batchSize >> 1) : Math.min(MAX_BATCH, batchSize * 2);
  }
  coverage.takeNew();
  const reached = coverage.shareOf(target.sources);
  return { executions, finds, reached, ...(failure !== undefined && { failure }) };
}

function makeInput(target: FuzzTarget, random: Random, pool: readonly string[]): string {
  const [input, other] = [pickInput(random, pool), pickInput(random, pool)];
  if (target.vary === undefined || random.chance(0.5)) return mutate(random, input, other, target);
  const varied = target.vary(random, input, other).slice(0, target.maxLength);
  return random.chance(0.7) ? varied : mutate(random, varied, other, target);
}

/** Mostly a short one, and often one of the last: what is new is near them. */
function pickInput(random: Random, pool: readonly string[]): string {
  const recent = random.chance(0.3) ? Math.max(0, pool.length - 20) : 0;
  const candidates = Array.from({ length: 3 }, () => pool[recent + random.below(pool.length - recent)] as string);
  return candidates.reduce((shortest, one) => (one.length < shortest.length ? one : shortest));
}

/** So long an input is made shorter at most: one that takes too much time does so in each of its forms. */
const MINIMISING_MILLISECONDS = 20_000;

/** The shortest input that is found to fail as this one does: pieces are left out for as long as any can be. */
export async function minimise(target: FuzzTarget, failure: FuzzFailure, watchdog: Watchdog): Promise<FuzzFailure> {
  let shortest = failure;
  const deadline = performance.now() + MINIMISING_MILLISECONDS;
  for (let size = shortest.input.length >> 1; size >= 1 && performance.now() < deadline; ) {
    let isShorter = false;
    for (let at = 0; at < shortest.input.length && performance.now() < deadline; ) {
      const found = await failureOf(target, shortest.input.slice(0, at) + shortest.input.slice(at + size), watchdog);
      if (found !== undefined && kindOf(found) === kindOf(failure)) {
        shortest = found;
        isShorter = true;
      } else {
        at += size;
      }
    }
    if (!isShorter || size > shortest.input.length) size = Math.min(size >> 1, shortest.input.length);
  }
  return shortest;
}

async function failureOf(target: FuzzTarget, input: string, watchdog: Watchdog): Promise<FuzzFailure | undefined> {
  try {
    await execute(target, input, watchdog);
    return undefined;
  } catch (error) {
    return { input, error: error instanceof Error ? error : new Error(String(error)) };
  }
}

/** The promise that is broken, without what was found in its place. */
function kindOf({ error }: FuzzFailure): string {
  return `${error.name} ${error.message.split(/[:\d]/, 2).join(":")}`;
}
