import { isLoopShared, soon } from "./event-loop.ts";
import { createRecentUsage, type RecentUsage } from "./recent-usage.ts";

/** How urgent a step is. A `short` one does not wait for `long` ones: it belongs to work that needs few steps. */
export type Urgency = "short" | "long";

/**
 * Shares the time of the event loop between the long work of many accounts, such as the listings of large folders. One
 * step of an urgency runs at a time. The next one is of the account that has used the least time of late, so that
 * hundreds of steps of one account delay another no more than a few do.
 */
export interface FairQueue {
  /** Runs a step when its turn comes. The steps of an account start in the order of the calls, of each urgency. */
  run<T>(account: string, urgency: Urgency, step: () => Promise<T>): Promise<T>;
}

/**
 * Yields what a source yields. Each of its steps is run by `run`, with the number of steps before it, so that it can be
 * a step of a {@link FairQueue}.
 */
export async function* runSteps<T>(
  source: AsyncIterableIterator<T>,
  run: (step: () => Promise<IteratorResult<T>>, before: number) => Promise<IteratorResult<T>>,
): AsyncGenerator<T> {
  try {
    for (let before = 0; ; before++) {
      const { done, value } = await run(() => source.next(), before);
      if (done === true) return;
      yield value;
    }
  } finally {
    await source.return?.();
  }
}

/** How long steps may take in one iteration of the event loop, in milliseconds, before other events are handled. */
const SLICE_MS: Readonly<Record<Urgency, number>> = { short: 5, long: 1 };
/** A step that takes longer, in milliseconds, waits for its storage. The next one does not wait for it. */
const MAX_STEP_MS = 4;

/** Creates a {@link FairQueue}. If the requests of a runtime share no event loop, every step runs immediately. */
export function createFairQueue(): FairQueue {
  const usage = createRecentUsage();
  const lines = { short: createLine(SLICE_MS.short, usage), long: createLine(SLICE_MS.long, usage) };
  return { run: (account, urgency, step) => (isLoopShared ? lines[urgency](account, step) : step()) };
}

/** Creates the line of the steps of one urgency. The function runs a step when its turn comes. */
function createLine(slice: number, usage: RecentUsage) {
  const waiting = new Map<string, (() => void)[]>();
  const hasTime = createSlices(slice);
  let isRunning = false;
  let isScheduled = false;

  function run<T>(account: string, step: () => Promise<T>): Promise<T> {
    if (waiting.size === 0 && mayStart()) return start(account, step);
    const turn = new Promise<void>((resolve) => {
      const starts = waiting.get(account) ?? [];
      starts.push(resolve);
      waiting.set(account, starts);
      startWaiting();
    });
    // Not called by the step before it: `AsyncLocalStorage` would give it the values of another request.
    return turn.then(() => start(account, step));
  }

  function mayStart(): boolean {
    return !isRunning && hasTime();
  }

  async function start<T>(account: string, step: () => Promise<T>): Promise<T> {
    const startedAt = performance.now();
    let delaysOthers = true;
    isRunning = true;

    function letOthersStart(): void {
      if (!delaysOthers) return;
      delaysOthers = false;
      isRunning = false;
      startWaiting();
    }

    const timer = setTimeout(letOthersStart, MAX_STEP_MS);
    try {
      return await step();
    } finally {
      clearTimeout(timer);
      usage.add(account, performance.now() - startedAt);
      letOthersStart();
    }
  }

  /** Starts the next step, in this iteration of the event loop or in a later one. */
  function startWaiting(): void {
    if (waiting.size > 0 && mayStart()) {
      isRunning = true;
      takeNext()();
    }
    if (waiting.size === 0 || isRunning || isScheduled) return;
    isScheduled = true;
    soon(() => {
      isScheduled = false;
      startWaiting();
    });
  }

  function takeNext(): () => void {
    const [account, starts] = usage.findLeast(waiting);
    if (starts.length === 1) waiting.delete(account);
    return starts.shift() as () => void;
  }

  return run;
}

/** Returns a function that says whether steps may go on in this iteration of the event loop. */
function createSlices(slice: number): () => boolean {
  let end: number | undefined;
  return () => {
    const now = performance.now();
    if (end === undefined) {
      end = now + slice;
      soon(() => {
        end = undefined;
      });
    }
    return now < end;
  };
}
