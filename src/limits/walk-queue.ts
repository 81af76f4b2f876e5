import { foldName } from "../contracts/account-name.ts";
import { isLoopShared } from "../platform/event-loop.ts";

/** Lets long work of one kind of all accounts, such as archives, read folders a few at a time. */
export interface WalkQueue {
  /**
   * Waits until the account may read one more folder, and returns the function that ends this walk; the client's
   * disconnect ends it, too. Rejects with the signal's reason if the client disconnects before.
   */
  enter(username: string, signal: AbortSignal): Promise<() => void>;
}

/** How many folders are read at a time, for all accounts together. */
const MAX_WALKS = 4;
/** How many of them for one account: the second one continues while the first one waits. */
const MAX_WALKS_OF_ACCOUNT = 2;
/** After this time, in milliseconds, a walk goes on without a place: its storage may never respond. */
const MAX_DURATION = 10_000;

/** The walks of an account. */
interface AccountWalks {
  running: number;
  /** The starts of those that wait, in the order of the calls. */
  readonly waiting: Set<() => void>;
}

/** Makes a queue. If the requests of a runtime share no event loop, no walk waits: one could not start another. */
export function createWalkQueue(): WalkQueue {
  /** The accounts with walks, the next one to start a walk first. */
  const accounts = new Map<string, AccountWalks>();
  let running = 0;

  async function enter(username: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (!isLoopShared) return () => undefined;
    const key = foldName(username);
    const walks = accounts.get(key) ?? { running: 0, waiting: new Set() };
    accounts.set(key, walks);
    if (running < MAX_WALKS && walks.running < MAX_WALKS_OF_ACCOUNT) begin(walks);
    else await waitForStart(walks.waiting, signal).finally(() => forgetIfIdle(key, walks));
    return endOnce(() => end(key, walks), signal);
  }

  function begin(walks: AccountWalks): void {
    running += 1;
    walks.running += 1;
  }

  function end(key: string, walks: AccountWalks): void {
    running -= 1;
    walks.running -= 1;
    forgetIfIdle(key, walks);
    startNext();
  }

  /** Starts a walk of the first account that waits and may have one more. The account comes after all others then. */
  function startNext(): void {
    for (const [key, walks] of accounts) {
      const [start] = walks.waiting;
      if (start === undefined || walks.running === MAX_WALKS_OF_ACCOUNT) continue;
      walks.waiting.delete(start);
      accounts.delete(key);
      accounts.set(key, walks);
      begin(walks);
      start();
      return;
    }
  }

  function forgetIfIdle(key: string, walks: AccountWalks): void {
    if (walks.running === 0 && walks.waiting.size === 0) accounts.delete(key);
  }

  return { enter };
}

function waitForStart(waiting: Set<() => void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    function start(): void {
      signal.removeEventListener("abort", leave);
      resolve();
    }

    function leave(): void {
      waiting.delete(start);
      reject(signal.reason);
    }

    waiting.add(start);
    signal.addEventListener("abort", leave, { once: true });
  });
}

/** Returns a function that ends a walk the first time it is called. A disconnect and the longest time call it, too. */
function endOnce(end: () => void, signal: AbortSignal): () => void {
  let isOver = false;
  const timer = setTimeout(endWalk, MAX_DURATION);

  function endWalk(): void {
    clearTimeout(timer);
    signal.removeEventListener("abort", endWalk);
    if (isOver) return;
    isOver = true;
    end();
  }

  signal.addEventListener("abort", endWalk, { once: true });
  // The client may have disconnected since this walk was started.
  if (signal.aborted) endWalk();
  return endWalk;
}
