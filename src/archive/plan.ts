import { yieldToEventLoop } from "../platform/event-loop.ts";
import type { ZipEntry } from "./read-ahead.ts";
import { createLengthSum } from "./zip-member.ts";

/** So many members are looked at before the first byte; they are all that is held of them, some 300 bytes each. */
const MAX_MEMBERS = 10_000;
/** So long at most, in milliseconds: clients do not wait for ever for an answer to begin. */
const MAX_WAIT = 5000;

/** So many members are looked at before others have their turn: there may be nothing to wait for. */
const MEMBERS_PER_YIELD = 1000;

/** An archive before it is written. */
export interface Plan {
  /** How long it becomes, if nothing changes until its members are read; `undefined` where there are too many to look at them first. */
  readonly length: number | undefined;
  /** All the members, as they were walked: nothing is listed twice. */
  readonly entries: AsyncIterator<ZipEntry>;
}

/**
 * Looks at the members of an archive that stores its files, to foretell its length: their names and sizes make it. Trees of more than
 * 10,000 members, and those that take longer than five seconds to list, are left at that: the rest is walked as it is written.
 * @throws what the walk throws, and the signal's reason.
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

/** What has been taken from a walk already, and then its rest. No generator: one that never started would not end the walk. */
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
