import { isLoopShared, soon } from "./event-loop.ts";

/**
 * Asks for the start of one step of long work. Returns `undefined` if it may start now, otherwise a promise that
 * resolves when it may.
 */
export type TakeTurn = (key: string) => Promise<void> | undefined;

/**
 * Creates a {@link TakeTurn}. In each iteration of the event loop one step starts, and the keys alternate: a key with
 * hundreds of steps delays those of another key no more than a key with one. The steps of a key start in the order of
 * the calls. A step holds nothing, so work that waits or never asks again delays no other.
 *
 * If the requests of a runtime share no event loop, every step starts immediately.
 */
export function createRoundRobin(): TakeTurn {
  /** The starts of the waiting steps by key, the next key first. */
  const waiting = new Map<string, (() => void)[]>();
  let isTaken = false;

  function takeTurn(key: string): Promise<void> | undefined {
    if (!isLoopShared) return undefined;
    if (isTaken) return new Promise((start) => enqueue(key, start));
    isTaken = true;
    soon(startNext);
    return undefined;
  }

  function enqueue(key: string, start: () => void): void {
    const steps = waiting.get(key);
    if (steps === undefined) waiting.set(key, [start]);
    else steps.push(start);
  }

  function startNext(): void {
    const [next] = waiting;
    isTaken = next !== undefined;
    if (next === undefined) return;
    const [key, steps] = next;
    steps.shift()?.();
    // Set again, the key comes after all others.
    waiting.delete(key);
    if (steps.length > 0) waiting.set(key, steps);
    soon(startNext);
  }

  return takeTurn;
}
