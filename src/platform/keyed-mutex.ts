import { isLoopShared } from "./event-loop.ts";
import { poll } from "./wait.ts";

/** Runs the tasks of one key one after the other, in the order of the calls, in this process. */
export type KeyedMutex = <T>(key: string, task: () => Promise<T>) => Promise<T>;

/**
 * Creates a {@link KeyedMutex}. A failed task does not stop those that wait; a key without tasks takes no memory. On
 * Workers the tasks have no order, and one that has waited for some seconds runs in any case.
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

function createPolledMutex(): KeyedMutex {
  const holders = new Map<string, symbol>();

  return async function withLock(key, task) {
    const own = Symbol("task");
    function take(): boolean {
      if (holders.has(key)) return false;
      holders.set(key, own);
      return true;
    }

    // The runtime may have ended the request of the holder. The next task then waits for this one, not for that.
    if (!(await poll(take))) holders.set(key, own);
    try {
      return await task();
    } finally {
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
