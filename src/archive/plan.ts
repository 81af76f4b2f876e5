import { yieldToEventLoop } from "../platform/event-loop.ts";
import type { ZipEntry } from "./read-ahead.ts";
import { createLengthSum } from "./zip-member.ts";

/** How many members are listed before the first byte is sent. Each takes about 300 bytes of memory. */
const MAX_MEMBERS = 10_000;
/**
 * How long members are listed before the first byte is sent, in milliseconds: clients give up when no response starts.
 */
const MAX_WAIT = 5000;

/** How many members are listed before other requests can continue. The listing itself may never wait for anything. */
const MEMBERS_PER_YIELD = 1000;

/** An archive before it is written. */
export interface Plan {
  /**
   * The length of the archive in bytes, if no member changes until it is read; `undefined` if there are too many
   * members to list them first.
   */
  readonly length: number | undefined;
  /** All members in the order of the walk. No folder is listed twice. */
  readonly entries: AsyncIterator<ZipEntry>;
}

/**
 * Computes the length of an archive without compression from the names, sizes and times of its members. If there are
 * more than 10,000 members, or listing them takes more than five seconds, stops without a length; the other members are
 * listed while the archive is written.
 * @throws the errors of the walk, and the reason of an aborted signal.
 */
export async function planArchive(walk: AsyncIterator<ZipEntry>, signal: AbortSignal): Promise<Plan> {
  const entries: ZipEntry[] = [];
  const sum = createLengthSum();
  const deadline = performance.now() + MAX_WAIT;
  try {
    while (entries.length < MAX_MEMBERS && performance.now() < deadline) {
      signal.throwIfAborted();
      const { done, value } = await walk.next();
      if (done === true) return { length: sum.total(), entries: replay(entries) };
      sum.add(value);
      entries.push(value);
      if (entries.length % MEMBERS_PER_YIELD === 0) await yieldToEventLoop();
    }
  } catch (error) {
    await walk.return?.();
    throw error;
  }
  return { length: undefined, entries: replay(entries, walk) };
}

/**
 * Yields the entries that were already taken from a walk, then the rest of the walk. It is not a generator function,
 * because `return` on a generator that has not started would not end the walk.
 */
function replay(taken: ZipEntry[], rest?: AsyncIterator<ZipEntry>): AsyncIterator<ZipEntry> {
  taken.reverse();
  return {
    async next() {
      const value = taken.pop();
      if (value !== undefined) return { done: false, value };
      return rest === undefined ? { done: true, value: undefined } : rest.next();
    },
    async return() {
      taken.length = 0;
      await rest?.return?.();
      return { done: true, value: undefined };
    },
  };
}
