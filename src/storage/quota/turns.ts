import { isLoopShared } from "../../platform/event-loop.ts";

/** Lets one caller at a time exchange what is at a path, in this process. */
export interface Turns {
  /** Waits for the turn of each path, in the order of their texts. The function that it returns ends them. */
  take(paths: readonly string[]): Promise<() => void>;
}

/** Creates {@link Turns}. On Workers no request may wait for another: there none does. */
export function createTurns(): Turns {
  /** For each path that is taken, those who wait for it. */
  const taken = new Map<string, (() => void)[]>();

  function takeOne(path: string): Promise<void> | undefined {
    const waiting = taken.get(path);
    if (waiting !== undefined && isLoopShared) return new Promise((resolve) => waiting.push(resolve));
    taken.set(path, waiting ?? []);
    return undefined;
  }

  function endOne(path: string): void {
    const next = taken.get(path)?.shift();
    if (next === undefined) taken.delete(path);
    else next();
  }

  async function take(paths: readonly string[]): Promise<() => void> {
    const sorted = paths.length === 1 ? paths : [...new Set(paths)].sort();
    for (const path of sorted) await takeOne(path);
    return () => sorted.forEach(endOne);
  }

  return { take };
}
