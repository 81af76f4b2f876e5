import type { QuotaLimit, QuotaShortage } from "../../contracts/quota.ts";
import { type Amount, add, isNothing, NOTHING, subtract, toMissing, toSmaller } from "./amount.ts";
import { type CountRecord, toUsage, withLease } from "./record.ts";

/** What one caller has reserved in a folder. Only {@link Held} changes it. */
export interface Share {
  amount: Amount;
  /**
   * A new round starts when only one share has got its room again after the lease had ended. The shares of earlier
   * rounds are late: they have lost their room.
   */
  round: number;
}

/** What a caller gives back of its share. */
export interface Released {
  readonly share: Share;
  readonly amount: Amount;
}

/** What a caller asks for. */
export interface Asked {
  readonly limit: QuotaLimit;
  readonly share: Share;
  readonly amount: Amount;
  /** The room that there must be, which may be more or less than the amount. */
  readonly needed: Amount;
}

/** What is decided about that. */
export interface Decision {
  readonly answer: "reserved" | QuotaShortage;
  /** What this process holds in addition. */
  readonly more: Amount;
  /** Of all that this process holds, only the share fits. */
  readonly isAlone?: boolean;
}

/** What this process has reserved in each folder. The store gets all of it each time, so no failed change lasts. */
export interface Held {
  /**
   * Decides by the record of a folder. If the lease of this process has ended, and a walk has counted the folder
   * without it, all that this process holds is asked for again. If that does not fit, a caller that has reserved
   * something gets its share alone.
   */
  decide(record: CountRecord, asked: Asked): Decision;
  /** Returns the record with what was decided. */
  withDecision(record: CountRecord, asked: Asked, decision: Decision): CountRecord;
  /** Notes a decision whose record is stored. */
  note(asked: Asked, decision: Decision): void;
  /**
   * Returns the record after some of a share is given back. Keeps the lease of this process for longer, also if nothing
   * is given back. A process that has lost its lease gets none by that.
   */
  withReleased(record: CountRecord, folder: string, released: Released | undefined): CountRecord;
  /** Gives back some of a share. */
  release(folder: string, released: Released): void;
  /** Returns the record with what is held now, if this process has a lease there. */
  withHeld(record: CountRecord, folder: string): CountRecord;
}

const LEASE_MILLISECONDS = 600_000;

/*
 * An example: a limit of 1000 bytes, and two uploads of this process with 300 bytes each.
 *
 * 1. Each reserves its 300: `held` is 600, the lease in the store is 600, 400 are left for others.
 * 2. The process is stopped for longer than its lease. A walk counts the folder without it, and another stores 500.
 * 3. The first upload goes on: 500 + 600 do not fit, but 500 + 300 do. So it is alone: `held` and the lease are 300,
 *    and the other one is late.
 * 4. The second one goes on: its 300 are asked for again. 500 + 300 + 300 do not fit: it ends.
 */

/** Creates the {@link Held} of this process. `clock` returns milliseconds. */
export function createHeld(clock: () => number): Held {
  const held = new Map<string, Amount>();
  /** How often only one share has got its room again in each folder. */
  const rounds = new Map<string, number>();
  let process: string | undefined;

  const heldIn = (folder: string): Amount => held.get(folder) ?? NOTHING;
  const roundOf = (folder: string): number => rounds.get(folder) ?? 0;
  const isLate = (folder: string, { amount, round }: Share): boolean => !isNothing(amount) && round !== roundOf(folder);

  function hold(folder: string, amount: Amount): void {
    if (isNothing(amount)) held.delete(folder);
    else held.set(folder, amount);
  }

  function toProcess(): string {
    process ??= crypto.randomUUID();
    return process;
  }

  /** The lease of this process. One that has ended stays until a walk. */
  function leasedIn({ leases }: CountRecord): Amount | undefined {
    return leases.find(({ process }) => process === toProcess())?.amount;
  }

  /**
   * Whether the lease has all that is held. It has less if the store has kept a decision for one share alone, and
   * reported a failure.
   */
  function hasLease(record: CountRecord, folder: string): boolean {
    const leased = leasedIn(record);
    return leased !== undefined && isNothing(toMissing(heldIn(folder), leased));
  }

  function toLeased(record: CountRecord, amount: Amount): CountRecord {
    return withLease(record, toProcess(), amount, clock() + LEASE_MILLISECONDS);
  }

  function decide(record: CountRecord, { limit, share, amount, needed }: Asked): Decision {
    const folder = limit.path;
    const late = isLate(folder, share) ? share.amount : NOTHING;
    const [asked, more] = [add(needed, late), add(amount, late)];
    // What this process has reserved counts also if its lease has ended.
    if (hasLease(record, folder)) return { answer: fits(toLeased(record, heldIn(folder)), limit, asked), more };
    const others = toLeased(record, NOTHING);
    const answer = fits(others, limit, add(asked, heldIn(folder)));
    if (answer === "reserved" || isNothing(share.amount)) return { answer, more };
    const isAlone = true;
    return { answer: fits(others, limit, add(needed, share.amount)), more: add(amount, share.amount), isAlone };
  }

  function withDecision(record: CountRecord, { limit }: Asked, { answer, more, isAlone }: Decision): CountRecord {
    if (answer !== "reserved") return record;
    return toLeased(record, isAlone ? more : add(heldIn(limit.path), more));
  }

  function note({ limit: { path }, share, amount }: Asked, { answer, more, isAlone }: Decision): void {
    if (answer !== "reserved") return;
    if (isAlone) rounds.set(path, roundOf(path) + 1);
    hold(path, isAlone ? more : add(heldIn(path), more));
    share.amount = add(share.amount, amount);
    share.round = roundOf(path);
  }

  /** What is late is held no longer. */
  function toRest(folder: string, released: Released | undefined): Amount {
    const held = heldIn(folder);
    return released && !isLate(folder, released.share) ? subtract(held, released.amount) : held;
  }

  function withReleased(record: CountRecord, folder: string, released: Released | undefined): CountRecord {
    return toLeased(record, toSmaller(leasedIn(record) ?? NOTHING, toRest(folder, released)));
  }

  function release(folder: string, released: Released): void {
    hold(folder, toRest(folder, released));
    released.share.amount = subtract(released.share.amount, released.amount);
  }

  function withHeld(record: CountRecord, folder: string): CountRecord {
    return hasLease(record, folder) ? toLeased(record, heldIn(folder)) : record;
  }

  return { decide, withDecision, note, withReleased, release, withHeld };
}

/** Returns what is missing for an amount below a limit. What needs no more than before always fits. */
function fits(record: CountRecord, limit: QuotaLimit, needed: Amount): "reserved" | QuotaShortage {
  const { bytes, files, reservedBytes, reservedFiles } = toUsage(record);
  const toExcess = (taken: number, more: number, max = Number.POSITIVE_INFINITY): number =>
    more <= 0 ? 0 : Math.max(0, taken + more - max);
  const missing = {
    bytes: toExcess(bytes + reservedBytes, needed.bytes, limit.bytes),
    files: toExcess(files + reservedFiles, needed.files, limit.files),
  };
  return isNothing(missing) ? "reserved" : { path: limit.path, ...missing };
}
