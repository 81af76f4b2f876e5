import { isLoopShared } from "./event-loop.ts";

/**
 * Runs some tasks of one key at a time, in the order of the calls, in this process. A task that waits rejects with the
 * reason of its signal when that aborts.
 */
export type KeyedLimit = <T>(key: string, task: () => Promise<T>, signal?: AbortSignal) => Promise<T>;

/** The tasks of a key. */
interface Tasks {
  running: number;
  /** The starts of those that wait. */
  readonly waiting: Set<() => void>;
}

/** Creates a {@link KeyedLimit}. On Workers no request may wait for another: there no task waits. */
export function createKeyedLimit(most: number): KeyedLimit {
  const tasks = new Map<string, Tasks>();

  async function run<T>(key: string, task: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (!isLoopShared) return task();
    const own = tasks.get(key) ?? { running: 0, waiting: new Set() };
    tasks.set(key, own);
    if (own.running === most) await waitForStart(own.waiting, signal);
    else own.running += 1;
    try {
      return await task();
    } finally {
      const [start] = own.waiting;
      // The next task takes the place of this one.
      if (start === undefined) own.running -= 1;
      else start();
      if (own.running === 0) tasks.delete(key);
    }
  }

  return run;
}

function waitForStart(waiting: Set<() => void>, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    function start(): void {
      waiting.delete(start);
      signal?.removeEventListener("abort", leave);
      resolve();
    }

    function leave(): void {
      waiting.delete(start);
      reject(signal?.reason);
    }

    waiting.add(start);
    if (signal?.aborted) leave();
    else signal?.addEventListener("abort", leave, { once: true });
  });
}
