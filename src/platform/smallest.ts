import { sortCooperatively } from "./cooperative-sort.ts";

/** The smallest of many items. It holds at most about twice as many as it keeps. */
export interface Smallest<T> {
  /** Adds items. Wait for the end before the next call. */
  add(items: readonly T[]): Promise<void>;
  /** How many items it holds now. */
  size(): number;
  /** Returns the smallest items in order. */
  sorted(): Promise<readonly T[]>;
}

/** The number of items from which it sorts: sorting a few items many times would take longer. */
const MIN_SORTED = 1024;

/** Keeps the `count` smallest items. */
export function createSmallest<T>(count: number, compare: (one: T, other: T) => number): Smallest<T> {
  const most = Math.max(2 * count, MIN_SORTED);
  let held: T[] = [];
  /** Larger items are none of the smallest. */
  let largest: T | undefined;

  async function add(items: readonly T[]): Promise<void> {
    for (const item of items) if (largest === undefined || compare(item, largest) < 0) held.push(item);
    if (held.length >= most) await sorted();
  }

  async function sorted(): Promise<readonly T[]> {
    held = (await sortCooperatively(held, compare)).slice(0, count);
    largest = held[count - 1];
    return held;
  }

  return { add, size: () => held.length, sorted };
}
