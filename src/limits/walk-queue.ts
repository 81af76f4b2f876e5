import { foldName } from "../contracts/account-name.ts";
import { isLoopShared } from "../platform/event-loop.ts";
import { createRecentUsage } from "../platform/recent-usage.ts";

/**
 * Shares the reading of folders between the archives, or the sorted listings, of all accounts. A few of these walks run
 * at a time: each has a permit for 50 ms, and then waits for the next one. The account that has used the least time
 * recently is next, with its oldest walk. So the walks of one account end one after the other.
 */
export interface WalkQueue {
  /** Starts the walk of an account: one archive or listing. `signal` is aborted when the client disconnects. */
  start(username: string, signal: AbortSignal): Walk;
}

/** The reading of one archive or listing. */
export interface Walk {
  /**
   * Waits for a permit if the walk has none. Call it before each step. Rejects with the signal's reason if the client
   * has disconnected, or disconnects while the walk waits.
   */
  next(): Promise<void>;
  /** Releases the permit. The walk may go on with {@link next}. */
  end(): void;
}

/** How many walks have a permit at a time. Four made a listing next to 64 hostile accounts take half as long again. */
const MAX_PERMITS = 2;
/** How long a walk has its permit, in milliseconds: also if its storage hangs, or its client reads slowly. */
const SLICE_MS = 50;

/**
 * Makes a queue with some permits. On runtimes whose requests share no event loop, no walk waits: a walk of one request
 * could not start that of another.
 */
export function createWalkQueue(maxPermits = MAX_PERMITS): WalkQueue {
  const usage = createRecentUsage();
  /** The waiting walks by account. Walks that had a permit come before new ones. */
  const waiting = new Map<string, (() => void)[]>();
  let permits = maxPermits;

  function start(username: string, signal: AbortSignal): Walk {
    const account = foldName(username);
    let slice: ReturnType<typeof setTimeout> | undefined;
    let since: number | undefined;

    async function next(): Promise<void> {
      signal.throwIfAborted();
      if (!isLoopShared || slice !== undefined) return;
      if (permits > 0) acquire(account);
      else await waitForPermit(account, signal, since !== undefined);
      since = performance.now();
      slice = setTimeout(end, SLICE_MS);
    }

    function end(): void {
      if (slice === undefined || since === undefined) return;
      clearTimeout(slice);
      slice = undefined;
      usage.add(account, performance.now() - since - SLICE_MS);
      release();
    }

    return { next, end };
  }

  /** A slice counts from its start. Otherwise the account would be next again until the slice ends. */
  function acquire(account: string): void {
    permits -= 1;
    usage.add(account, SLICE_MS);
  }

  function release(): void {
    permits += 1;
    if (waiting.size === 0) return;
    const [account, [begin]] = usage.findLeast(waiting);
    acquire(account);
    begin?.();
  }

  function waitForPermit(account: string, signal: AbortSignal, hasBegun: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const walks = waiting.get(account) ?? [];
      waiting.set(account, walks);
      if (hasBegun) walks.unshift(begin);
      else walks.push(begin);
      signal.addEventListener("abort", leave, { once: true });

      function begin(): void {
        forget();
        resolve();
      }

      function leave(): void {
        forget();
        reject(signal.reason);
      }

      function forget(): void {
        signal.removeEventListener("abort", leave);
        walks.splice(walks.indexOf(begin), 1);
        if (walks.length === 0) waiting.delete(account);
      }
    });
  }

  return { start };
}
