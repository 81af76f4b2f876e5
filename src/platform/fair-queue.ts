import { isLoopShared, soon } from "./event-loop.ts";
import { createRecentUsage, type RecentUsage } from "./recent-usage.ts";

/** How urgent a step is. A `short` one does not wait for `long` ones: it belongs to work that needs few steps. */
export type Urgency = "short" | "long";

/**
 * Shares the time of the event loop between the work of many accounts, such as the listings of large folders, so that
 * hundreds of steps of one account delay another no more than a few do. One step of an urgency runs at a time. The next
 * long one is of the account that has used the least time of late. With short ones the accounts take turns: an account
 * that asks for one small listing after the other has soon used the most time, and would always be the last.
 */
export interface FairQueue {
  /** Runs a step when its turn comes. The steps of an account start in the order of the calls, of each urgency. */
  run<T>(account: string, urgency: Urgency, step: () => Promise<T>): Promise<T>;
  /**
   * Begins work. The first steps of `short` work are short, unless other short work of the account started less than a
   * second ago and goes on: the first steps of hundreds of listings would delay other accounts.
   */
  begin(account: string, urgency: Urgency): Work;
}

/** Work in steps. */
export interface Work {
  /** Runs a step. */
  run<T>(step: () => Promise<T>): Promise<T>;
  /** Says that there are no further steps. */
  end(): void;
}

/** Yields what a source yields. Each of its steps is one of the work, which ends with it. */
export async function* runSteps<T>(source: AsyncIterableIterator<T>, work: Work): AsyncGenerator<T> {
  try {
    for (;;) {
      const { done, value } = await work.run(() => source.next());
      if (done === true) return;
      yield value;
    }
  } finally {
    work.end();
    await source.return?.();
  }
}

/** The number of short steps of short work. A listing of a few hundred members needs no more. */
const SHORT_STEPS = 16;

/** How long steps may take in one iteration of the event loop, in milliseconds, before other events are handled. */
const SLICE_MS: Readonly<Record<Urgency, number>> = { short: 5, long: 1 };
/** For this time, in milliseconds, or until it ends, short work is the only one of its account with short steps. */
const ALONE_MS = 1000;
/** A step that takes longer, in milliseconds, waits for its storage. The next one does not wait for it. */
const MAX_STEP_MS = 4;

/** Creates a {@link FairQueue}. If the requests of a runtime share no event loop, every step runs immediately. */
export function createFairQueue(): FairQueue {
  const usage = createRecentUsage();
  const lines = { short: createLine(SLICE_MS.short, usage, true), long: createLine(SLICE_MS.long, usage) };
  /** When the work of accounts started that has their short steps. */
  const startedAt = new Map<string, number>();

  const run: FairQueue["run"] = (account, urgency, step) => (isLoopShared ? lines[urgency](account, step) : step());

  function begin(account: string, urgency: Urgency): Work {
    const now = performance.now();
    const isShort = urgency === "short" && now - (startedAt.get(account) ?? -ALONE_MS) >= ALONE_MS;
    let left = isShort ? SHORT_STEPS : 0;
    if (isShort) startedAt.set(account, now);
    return {
      run: (step) => run(account, left-- > 0 ? "short" : "long", step),
      end() {
        if (isShort && startedAt.get(account) === now) startedAt.delete(account);
      },
    };
  }

  return { run, begin };
}

/** Creates the line of the steps of one urgency. The function runs a step when its turn comes. */
function createLine(slice: number, usage: RecentUsage, takesTurns = false) {
  /** What waits by account, in the order of their arrivals and last turns. */
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
    const [account = "", starts = []] = (takesTurns ? waiting.entries().next().value : usage.findLeast(waiting)) ?? [];
    waiting.delete(account);
    if (starts.length > 1) waiting.set(account, starts);
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
