import type { StoredLock } from "./lock.ts";

/** The locks of the members of one folder, and what is known of locks deeper in it. */
export interface LockRecord {
  readonly locks: readonly StoredLock[];
  /** The member folders that may have locks below them. */
  readonly below: ReadonlyMap<string, Mark>;
}

/** That there may be locks below a folder. */
export interface Mark {
  /** A time when all of them have ended, in milliseconds. It may be later than needed, but never earlier. */
  readonly until: number;
  /** Identifies a removal of the mark under way. It ends without effect if a new lock needs the mark. */
  readonly removal?: string;
}

/** The JSON of a record. */
interface RecordJson {
  readonly locks: readonly StoredLock[];
  readonly below: readonly MarkJson[];
}

type MarkJson = readonly [name: string, until: number, removal?: string];

const HOUR = 3_600_000;

/** The record of a folder that has none. */
export const EMPTY_RECORD: LockRecord = { locks: [], below: new Map() };

/** Parses a record, without what has ended. `undefined` is the text of a folder that has no record. */
export function parseRecord(text: string | undefined, now: number): LockRecord {
  if (text === undefined) return EMPTY_RECORD;
  const { locks, below } = JSON.parse(text) as RecordJson;
  return {
    locks: locks.filter(({ ends }) => ends > now),
    below: new Map(
      below.flatMap(([name, until, removal]) => (until > now ? [[name, { until, ...(removal && { removal }) }]] : [])),
    ),
  };
}

/** The text of a record; `undefined` if there is nothing to keep. */
export function writeRecord({ locks, below }: LockRecord): string | undefined {
  if (locks.length === 0 && below.size === 0) return undefined;
  const marks = Array.from(
    below,
    ([name, { until, removal }]): MarkJson => (removal === undefined ? [name, until] : [name, until, removal]),
  );
  return JSON.stringify({ locks, below: marks } satisfies RecordJson);
}

/** How long a record must be kept, in milliseconds. */
export function timeToLive({ locks, below }: LockRecord, now: number): number {
  let last = now + 1;
  for (const { ends } of locks) last = Math.max(last, ends);
  for (const { until } of below.values()) last = Math.max(last, until);
  return last - now;
}

/** Rounds a time up to the hour, so that a folder is rarely written because of locks deep in it. */
export function toMark(ends: number): number {
  return Math.ceil(ends / HOUR) * HOUR;
}

/** A record with a mark, or without the one that it has. */
export function withMark({ locks, below }: LockRecord, name: string, mark: Mark | undefined): LockRecord {
  const others = [...below].filter(([one]) => one !== name);
  return { locks, below: new Map(mark === undefined ? others : [...others, [name, mark]]) };
}

/** A record with one lock more, or with the new version of a lock that it has. */
export function withLock({ locks, below }: LockRecord, lock: StoredLock): LockRecord {
  return { locks: [...locks.filter(({ token }) => token !== lock.token), lock], below };
}

/** A record without some locks. */
export function withoutLocks({ locks, below }: LockRecord, tokens: ReadonlySet<string>): LockRecord {
  return { locks: locks.filter(({ token }) => !tokens.has(token)), below };
}
