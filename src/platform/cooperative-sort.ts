import { yieldToEventLoop } from "./event-loop.ts";

/** How many items are sorted or merged before the event loop runs: a folder may have 100,000 members. */
const RUN = 2048;

type Compare<T> = (one: T, other: T) => number;

/**
 * Sorts as `Array.prototype.toSorted` does, and yields to the event loop in between. It sorts runs and merges pairs of
 * them, alternating between two arrays, which are all the memory that it needs.
 */
export async function sortCooperatively<T>(items: readonly T[], compare: Compare<T>): Promise<T[]> {
  let from: T[] = [];
  for (let start = 0; start < items.length; start += RUN) {
    if (start > 0) await yieldToEventLoop();
    from.push(...items.slice(start, start + RUN).sort(compare));
  }
  let to = from.length > RUN ? [...from] : from;
  for (let length = RUN; length < from.length; length *= 2) {
    await mergeRuns(from, to, length, compare);
    [from, to] = [to, from];
  }
  return from;
}

/** Merges each pair of runs of this length into one, at the same positions of the other array. */
async function mergeRuns<T>(from: readonly T[], to: T[], length: number, compare: Compare<T>): Promise<void> {
  for (let start = 0; start < from.length; start += 2 * length) {
    const middle = Math.min(start + length, from.length);
    const end = Math.min(start + 2 * length, from.length);
    let [left, right] = [start, middle];
    for (let at = start; at < end; at++) {
      const isLeft = right === end || (left < middle && compare(from[left] as T, from[right] as T) <= 0);
      to[at] = from[isLeft ? left++ : right++] as T;
      if (at % RUN === 0) await yieldToEventLoop();
    }
  }
}
