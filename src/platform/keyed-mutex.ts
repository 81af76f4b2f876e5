import { isLoopShared } from "./event-loop.ts";

/** Runs the tasks of one key one after the other, in the order of the calls, in this process. */
export type KeyedMutex = <T>(key: string, task: () => Promise<T>) => Promise<T>;

/** Creates a {@link KeyedMutex}. A failed task does not stop those that wait; a key without tasks takes no memory. */
export function createKeyedMutex(): KeyedMutex {
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

/** Creates a {@link KeyedMutex} for tasks of requests. On Workers no request may wait for another: there none does. */
export function createRequestMutex(): KeyedMutex {
  return isLoopShared ? createKeyedMutex() : (_key, task) => task();
}

/** A task of a host may be written in JavaScript: it may throw, or return no promise. */
async function runNow<T>(task: () => Promise<T>): Promise<T> {
  return task();
}
