import type { QuotaLimit } from "../../contracts/quota.ts";
import { hasCode, StorageError } from "../../contracts/storage-adapter.ts";
import { isWithinFolder } from "../../contracts/storage-path.ts";
import { type Amount, add, isNothing, NOTHING, toMissing } from "./amount.ts";
import { toCountedPath, toPathsAround } from "./counted-path.ts";
import type { Counts, RoomOptions } from "./counts.ts";
import type { Share } from "./held.ts";
import type { ChangedPart, Settlement } from "./settlement.ts";

/** Admits what callers want to store, and counts what they have stored. */
export interface Admissions {
  /** Returns the limits around a path: those of all callers, and that of this one. */
  limitsOf(path: string, own: QuotaLimit | undefined): readonly QuotaLimit[];
  /** Returns the folders around some paths that have a count. */
  countedAround(paths: readonly string[]): Promise<readonly string[]>;
  /** As `countedAround`, after a change. Returns none if the store fails: the change counts below the limits anyway. */
  countedAfter(paths: readonly string[]): Promise<readonly string[]>;
  /** Opens an empty reservation under some limits. */
  open(limits: readonly QuotaLimit[]): Reservation;
}

/** What one caller has reserved. `settle` or `release` ends it: what is reserved after that is given back. */
export interface Reservation {
  /** The folders with its limits. */
  readonly folders: readonly string[];
  /**
   * Increases the reservation to `needed`, under all limits or not at all.
   * @throws the error of a quota; StorageError `incomplete` if the reservation is over.
   */
  raise(needed: Amount, room?: RoomOptions): Promise<void>;
  /** Whether `needed` is reserved under all limits. */
  holds(needed: Amount): boolean;
  /** Renews the lease, if it is time. Returns nothing if it is not. Rejects with the error of a quota if it is late. */
  renew(): Promise<void> | undefined;
  /**
   * Runs a change, and renews the lease meanwhile. The signal that the change gets aborts with that of the caller, and
   * with the error of a quota if the lease has ended and others have had the room.
   */
  during<T>(change: (signal: AbortSignal | undefined) => Promise<T>, signal: AbortSignal | undefined): Promise<T>;
  /** Counts what has happened under the limits and in further folders, and gives back what was reserved for it. */
  settle(settlement: Settlement, folders: readonly string[]): Promise<void>;
  /** Gives back what is reserved. Returns nothing if nothing is. */
  release(): Promise<void> | undefined;
}

/** A lease ends after ten minutes. */
const RENEWAL_MILLISECONDS = 120_000;

/** Creates the {@link Admissions}. `folders`: the limits of all callers. `clock` returns milliseconds. */
export function createAdmissions(counts: Counts, folders: readonly QuotaLimit[], clock: () => number): Admissions {
  function limitsOf(path: string, own: QuotaLimit | undefined): readonly QuotaLimit[] {
    const counted = toCountedPath(path);
    const byFolder = new Map<string, QuotaLimit>();
    for (const limit of own === undefined ? folders : [...folders, own]) {
      const isLimit = limit.bytes !== undefined || limit.files !== undefined;
      if (isLimit && isWithinFolder(counted, limit.path)) {
        byFolder.set(limit.path, toStricter(limit, byFolder.get(limit.path)));
      }
    }
    return [...byFolder.values()];
  }

  function countedAround(paths: readonly string[]): Promise<readonly string[]> {
    const [path = "/", ...others] = paths.map(toCountedPath);
    const around = toPathsAround(path);
    return counts.findCounted(
      others.length === 0 ? around : [...new Set([...around, ...others.flatMap(toPathsAround)])],
    );
  }

  const countedAfter = (paths: readonly string[]) => countedAround(paths).catch(() => []);

  return { limitsOf, countedAround, countedAfter, open: (limits) => createReservation(counts, limits, clock) };
}

function createReservation(counts: Counts, limits: readonly QuotaLimit[], clock: () => number): Reservation {
  let held = NOTHING;
  /** What is reserved elsewhere for the same file. */
  let credit: readonly ChangedPart[] | undefined;
  const shares = limits.map((limit): { readonly limit: QuotaLimit; readonly share: Share } => ({
    limit,
    share: { amount: NOTHING, round: 0 },
  }));
  let renewedAt = clock();
  /** A write that is aborted does not wait for the last step of its content, which may still reserve something. */
  let isOver = false;

  async function giveBack(amount: Amount, from: typeof shares): Promise<void> {
    for (const { limit, share } of from) await counts.settle(limit.path, {}, { share, amount });
  }

  const holds = (needed: Amount): boolean => limits.length === 0 || isNothing(toMissing(needed, held));

  async function raise(needed: Amount, room?: RoomOptions): Promise<void> {
    const missing = toMissing(needed, held);
    if (isNothing(missing)) return;
    const done: typeof shares = [];
    credit = room?.credit ?? credit;
    try {
      for (const one of shares) {
        await counts.reserve(one.limit, one.share, missing, room);
        done.push(one);
      }
      if (isOver) throw new StorageError("incomplete");
    } catch (error) {
      await giveBack(missing, done);
      throw error;
    }
    held = add(held, missing);
    renewedAt = clock();
  }

  function renew(): Promise<void> | undefined {
    return isNothing(held) || clock() - renewedAt < RENEWAL_MILLISECONDS ? undefined : extend();
  }

  async function extend(): Promise<void> {
    const now = clock();
    for (const { limit, share } of shares) await counts.extend(limit, share, credit);
    renewedAt = now;
  }

  async function during<T>(
    change: (signal: AbortSignal | undefined) => Promise<T>,
    signal: AbortSignal | undefined,
  ): Promise<T> {
    if (limits.length === 0) return change(signal);
    const ending = new AbortController();

    /** The lease outlasts some failures of the store. */
    async function renewOrEnd(): Promise<void> {
      try {
        await renew();
      } catch (error) {
        if (hasCode(error, "no-space")) ending.abort(error);
      }
    }

    const timer: unknown = setInterval(renewOrEnd, RENEWAL_MILLISECONDS / 2);
    (timer as { unref?: () => void }).unref?.();
    try {
      return await change(AbortSignal.any([ending.signal, ...(signal ? [signal] : [])]));
    } finally {
      clearInterval(timer as number);
    }
  }

  async function settle(settlement: Settlement, folders: readonly string[]): Promise<void> {
    const amount = held;
    held = NOTHING;
    isOver = true;
    for (const { limit, share } of shares) await counts.settle(limit.path, settlement, { share, amount });
    for (const folder of folders) {
      if (!limits.some(({ path }) => path === folder)) await counts.settle(folder, settlement);
    }
  }

  function release(): Promise<void> | undefined {
    isOver = true;
    return isNothing(held) ? undefined : settle({}, []);
  }

  return { folders: limits.map(({ path }) => path), raise, holds, renew, during, settle, release };
}

/** Returns the limit of two for one folder. */
function toStricter(one: QuotaLimit, other: QuotaLimit | undefined): QuotaLimit {
  if (other === undefined) return one;
  const bytes = toLeast(one.bytes, other.bytes);
  const files = toLeast(one.files, other.files);
  return { path: one.path, ...(bytes !== undefined && { bytes }), ...(files !== undefined && { files }) };
}

function toLeast(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other);
}
