import { isLoopShared } from "./event-loop.ts";
import { wait } from "./wait.ts";

/** Runs the tasks of one key one after the other, in the order of the calls, in this process. */
export type KeyedMutex = <T>(key: string, task: () => Promise<T>) => Promise<T>;

/**
 * Creates a {@link KeyedMutex}. A failed task does not stop those that wait; a key without tasks takes no memory. On
 * Workers the tasks have no order, and none waits for one whose request the runtime has ended.
 */
export function createKeyedMutex(): KeyedMutex {
  return isLoopShared ? createQueuedMutex() : createPolledMutex();
}

function createQueuedMutex(): KeyedMutex {
  const lastTasks = new Map<string, Promise<unknown>>();

  return function withLock(key, task) {
    const last = lastTasks.get(key);
    const result = last === undefined ? runNow(task) : last.then(task, task);
    const forget = () => {
      if (lastTasks.get(key) === result) lastTasks.delete(key);
    };
    lastTasks.set(key, result);
    result.then(forget, forget);
    return result;
  };
}

/** A task that runs, and when its request has last shown that it goes on. */
interface Holder {
  shownAt: number;
}

const POLL_MS = 20;
const SHOW_MS = 1000;
/** The runtime has ended a request that has not shown itself for so long: its timers have ended, too. */
const LOST_MS = 10_000;

function createPolledMutex(): KeyedMutex {
  const holders = new Map<string, Holder>();

  function isHeld(key: string): boolean {
    const holder = holders.get(key);
    return holder !== undefined && Date.now() - holder.shownAt < LOST_MS;
  }

  return async function withLock(key, task) {
    while (isHeld(key)) await wait(POLL_MS);
    const own = { shownAt: Date.now() };
    holders.set(key, own);
    const timer = setInterval(() => {
      own.shownAt = Date.now();
    }, SHOW_MS);
    try {
      return await task();
    } finally {
      clearInterval(timer);
      if (holders.get(key) === own) holders.delete(key);
    }
  };
}

/** Creates a {@link KeyedMutex} for tasks of requests. On Workers no request may wait for another: there none does. */
export function createRequestMutex(): KeyedMutex {
  return isLoopShared ? createKeyedMutex() : (_key, task) => task();
}

/** A task of a host may be written in JavaScript: it may throw, or return no promise. */
async function runNow<T>(task: () => Promise<T>): Promise<T> {
  return task();
}
