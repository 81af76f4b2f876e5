import { foldName } from "../contracts/account-name.ts";
import { isLoopShared } from "../platform/event-loop.ts";

/** Lets the archives of an account read folders one after the other, in the order of the calls. */
export interface WalkQueue {
  /**
   * Waits until the account may read one more folder, and returns the function that ends this walk; the client's
   * disconnect ends it, too. Rejects with the signal's reason if the client disconnects before.
   */
  enter(username: string, signal: AbortSignal): Promise<() => void>;
}

/** How many folders the archives of an account read at a time: the second one continues while the first one waits. */
const MAX_WALKS = 2;

/** The walks of an account. */
interface AccountWalks {
  running: number;
  /** The starts of those that wait. */
  readonly waiting: Set<() => void>;
}

/** Makes a queue. If the requests of a runtime share no event loop, no walk waits: one could not start another. */
export function createWalkQueue(): WalkQueue {
  const accounts = new Map<string, AccountWalks>();

  async function enter(username: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (!isLoopShared) return () => undefined;
    const key = foldName(username);
    const walks = accounts.get(key) ?? { running: 0, waiting: new Set() };
    accounts.set(key, walks);
    if (walks.running === MAX_WALKS) await waitForStart(walks.waiting, signal);
    else walks.running += 1;
    return endOnce(() => end(key, walks), signal);
  }

  /** A walk that waits takes the place of the one that ends. */
  function end(key: string, walks: AccountWalks): void {
    const [start] = walks.waiting;
    if (start !== undefined) {
      walks.waiting.delete(start);
      start();
      return;
    }
    walks.running -= 1;
    if (walks.running === 0) accounts.delete(key);
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

/** Returns a function that ends a walk the first time it is called. A disconnect calls it, too: a storage may hang. */
function endOnce(end: () => void, signal: AbortSignal): () => void {
  let isOver = false;

  function endWalk(): void {
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
