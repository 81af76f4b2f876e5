import { createQuotaError, type QuotaLimit, type QuotaUsage } from "../../contracts/quota.ts";
import { StorageError } from "../../contracts/storage-adapter.ts";
import { isLoopShared } from "../../platform/event-loop.ts";
import { runSweeps } from "../../platform/run-sweeps.ts";
import { type Amount, add, isNothing, NOTHING, subtract } from "./amount.ts";
import { countsIn } from "./counted-path.ts";
import type { UploadSum } from "./counted-uploads.ts";
import { type Asked, createHeld, type Decision, type Released, type Share } from "./held.ts";
import { asStale, type CountRecord, toUsage, UNCOUNTED, withUploads, withUsed, withWalk } from "./record.ts";
import type { CountRecords } from "./records.ts";
import { type ChangedPart, type Settlement, sumWithin } from "./settlement.ts";
import type { FolderWalk, Walks } from "./walks.ts";

/** The counts of folders in a store. Methods reject with StorageError `unavailable` if the store fails. */
export interface Counts {
  /**
   * Returns the count of a folder. Counts by a walk if there is none. If something was lost, starts a walk, and returns
   * the former count until the walk has ended.
   */
  usage(folder: string): Promise<QuotaUsage>;
  /**
   * Counts by a walk that starts now or later. If too much changes during the walk, or another process has counted the
   * folder meanwhile, the walk changes nothing.
   */
  recount(folder: string): Promise<QuotaUsage>;
  /**
   * Counts by a walk if the last one is too old, or if something was lost. Returns whether it was due. If the signal
   * aborts, the walk ends and changes nothing, and the promise rejects with the reason.
   */
  recountIfDue(folder: string, signal?: AbortSignal): Promise<boolean>;
  /**
   * Counts by walks those folders in which something was lost, such as the lease of a process that has ended. Of the
   * folders that this process has been asked about. Returns how many it has counted.
   */
  recountLost(signal?: AbortSignal): Promise<number>;
  /** Reserves more for a share. @throws the error of a quota if it does not fit. */
  reserve(limit: QuotaLimit, share: Share, amount: Amount, room?: RoomOptions): Promise<void>;
  /**
   * Counts what has happened in a folder. Does nothing if the folder has no count. Never fails: then it recounts.
   * `released`: what is given back in the same step.
   */
  settle(folder: string, settlement: Settlement, released?: Released): Promise<void>;
  /**
   * Keeps what this process has reserved for longer. If the lease has ended, and a walk has counted the folder without
   * it, others may have had the room. Then all that this process has reserved is asked for again, and if that does not
   * fit, only the share. `credit`: what is reserved already, for the same file.
   * @throws the error of a quota if the share does not fit any more.
   */
  extend(limit: QuotaLimit, share: Share, credit?: readonly ChangedPart[]): Promise<void>;
  /** Has folders counted by a walk before the next admission. */
  markStale(folders: readonly string[]): Promise<void>;
  /** Returns those of some folders that have a count. */
  findCounted(folders: readonly string[]): Promise<readonly string[]>;
}

/** What decides whether an amount fits. */
export interface RoomOptions {
  /** What is reserved already, for the same file. */
  readonly credit?: readonly ChangedPart[];
  /** What has to be left after it. Default: nothing. */
  readonly spare?: Amount;
  /** The change has started. A walk would wait for it, so it must not wait for a walk. Default: false. */
  readonly isUnderWay?: boolean;
}

/** What {@link createCounts} needs. */
export interface CountsOptions {
  readonly records: CountRecords;
  readonly walks: Walks;
  /** Adds up what the uploads in several requests will need in a folder. */
  readonly sumUploads: (folder: string) => Promise<UploadSum>;
  /** The time between two walks, in seconds; 0: only what was lost is a reason for one. */
  readonly recountSeconds: number;
  /** In milliseconds. */
  readonly clock: () => number;
}

/** The count that a caller wants. */
interface WantedCount {
  readonly folder: string;
  /**
   * Whether the folder still needs a walk. A walk does not see which changes another process has in progress, so one
   * that is not needed only makes the count worse.
   */
  readonly isNeeded: (folder: string, record: CountRecord) => boolean;
  /** Ends the walk. */
  readonly signal?: AbortSignal | undefined;
}

/** The record of a folder after a walk, and whether it has the count of that walk. */
interface StoredWalk {
  readonly record: CountRecord;
  readonly isOwn: boolean;
}

/** After a walk that has failed, or has found too many changes. */
const RETRY_MILLISECONDS = 60_000;
/** A walk in progress, for all callers that want the same one. */
interface Recount {
  readonly counting: Promise<QuotaUsage>;
  /** Ends the walk. It is that of one caller. */
  readonly signal: AbortSignal | undefined;
}

/** How many folders are looked at again for what may be lost in them. */
const MAX_WATCHED = 10_000;
const NO_PARTS: readonly ChangedPart[] = [];
/** How often the uploads are added up, if some change meanwhile. */
const MAX_SUMS = 5;

/** Creates the {@link Counts}. */
export function createCounts(options: CountsOptions): Counts {
  const { records, walks, sumUploads, recountSeconds, clock } = options;
  const { find, update, findCounted } = records;
  /** The folders whose record could not be changed after something had happened. */
  const lost = new Set<string>();
  /** How many changes this process has counted in each folder that it is counting. */
  const ownChanges = new Map<string, number>();
  const recounts = new Map<string, Recount>();
  const failedAt = new Map<string, number>();
  const held = createHeld(clock);
  /** The folders in which something may be lost later. */
  const watched = new Set<string>();

  function watch(folder: string): void {
    if (watched.size < MAX_WATCHED) watched.add(folder);
  }

  async function usage(folder: string): Promise<QuotaUsage> {
    watch(folder);
    const record = await find(folder);
    if (record === undefined || record.countedAt === 0) return count({ folder, isNeeded: isLost });
    if (!isLost(folder, record) || !mayWalk(folder)) return toUsage(record);
    if (!isLoopShared) return count({ folder, isNeeded: isLost });
    void count({ folder, isNeeded: isLost }).catch(() => undefined);
    return toUsage(record);
  }

  /** A folder without a count is one, too. */
  function isLost(folder: string, record: CountRecord): boolean {
    return record.isStale || lost.has(folder);
  }

  function isLostOrDue(folder: string, record: CountRecord): boolean {
    return isLost(folder, record) || isDue(record);
  }

  async function recount(folder: string): Promise<QuotaUsage> {
    // A walk that runs may have passed what the caller has changed.
    for (let running = recounts.get(folder); running !== undefined; running = recounts.get(folder)) {
      await running.counting.catch(() => undefined);
    }
    return count({ folder, isNeeded: () => true });
  }

  /** Callers at the same time share one walk. On Workers no request may wait for another. */
  async function count(wanted: WantedCount): Promise<QuotaUsage> {
    if (!isLoopShared) return countIfNeeded(wanted);
    const { folder, signal } = wanted;
    const running = recounts.get(folder) ?? startRecount(wanted);
    const usage = await running.counting;
    const isEndedByOther = running.signal !== signal && running.signal?.aborted === true;
    return isEndedByOther ? count(wanted) : usage;
  }

  function startRecount(wanted: WantedCount): Recount {
    const { folder, signal } = wanted;
    const running = { counting: countIfNeeded(wanted).finally(() => recounts.delete(folder)), signal };
    recounts.set(folder, running);
    return running;
  }

  /** If another process has counted the folder since the caller looked, that count stays. */
  async function countIfNeeded({ folder, isNeeded, signal }: WantedCount): Promise<QuotaUsage> {
    ownChanges.set(folder, 0);
    try {
      const before = (await update(folder, (record) => record ?? UNCOUNTED)) ?? UNCOUNTED;
      return toUsage(isNeeded(folder, before) ? await countByWalk(folder, before, signal) : before);
    } finally {
      ownChanges.delete(folder);
    }
  }

  async function countByWalk(folder: string, before: CountRecord, signal?: AbortSignal): Promise<CountRecord> {
    // Before the walk: a change that is lost during it notes the folder again.
    const wasLost = lost.delete(folder);
    let walk: FolderWalk | undefined;
    let stored: StoredWalk | undefined;
    try {
      walk = await walks.count(folder, signal);
      stored = walk && (await storeWalk(folder, before, walk, wasLost));
      return stored?.record ?? (await find(folder)) ?? UNCOUNTED;
    } finally {
      walk?.end();
      if (stored) failedAt.delete(folder);
      else failedAt.set(folder, clock());
      if (wasLost && !stored?.isOwn) lost.add(folder);
    }
  }

  /**
   * Stores what a walk has counted. Returns `undefined` if there were changes that the walk does not know of. If
   * another process, or another request on Workers, has counted the folder meanwhile, that count stays (`isOwn` is
   * false): the walk may have seen files that the other one counts later. `wasLost`: the store may also have what this
   * process has given back.
   */
  async function storeWalk(
    folder: string,
    before: CountRecord,
    walk: FolderWalk,
    wasLost: boolean,
  ): Promise<StoredWalk | undefined> {
    for (let attempt = 0; attempt < MAX_SUMS; attempt += 1) {
      const seen = (await find(folder))?.uploads.changes ?? 0;
      const uploads = await sumUploads(folder);
      let [isStored, isOther] = [false, false];
      const record = await update(folder, (current = UNCOUNTED) => {
        const isKnown = current.changes === before.changes + (ownChanges.get(folder) ?? 0);
        isOther = current.countedAt !== before.countedAt;
        isStored = !isOther && isKnown && uploads.isCurrent() && current.uploads.changes === seen;
        if (!isStored) return current;
        const counted = withWalk(current, walk.total, uploads.amount, clock());
        return wasLost ? held.withHeld(counted, folder) : counted;
      });
      if (record !== undefined && (isStored || isOther)) return { record, isOwn: isStored };
    }
    return undefined;
  }

  function isDue({ countedAt }: CountRecord): boolean {
    return recountSeconds > 0 && clock() - countedAt >= recountSeconds * 1000;
  }

  function mayWalk(folder: string): boolean {
    const failed = failedAt.get(folder);
    return failed === undefined || clock() - failed >= RETRY_MILLISECONDS;
  }

  async function recountIfDue(folder: string, signal?: AbortSignal): Promise<boolean> {
    const record = await find(folder);
    if (record === undefined || !isLostOrDue(folder, record)) return false;
    await count({ folder, isNeeded: isLostOrDue, signal });
    signal?.throwIfAborted();
    return true;
  }

  async function recountLostIn(folder: string, signal?: AbortSignal): Promise<number> {
    const record = await find(folder);
    if (record !== undefined && isLost(folder, record)) {
      await count({ folder, isNeeded: isLost, signal });
      signal?.throwIfAborted();
      return 1;
    }
    // The next reservation there adds it again.
    if (record === undefined || record.leases.length === 0) watched.delete(folder);
    return 0;
  }

  function recountLost(signal?: AbortSignal): Promise<number> {
    const sweeps = [...lost, ...watched].map((folder) => () => recountLostIn(folder, signal));
    return runSweeps(sweeps, signal);
  }

  async function reserve(limit: QuotaLimit, share: Share, amount: Amount, room: RoomOptions = {}): Promise<void> {
    const { credit = [], spare = NOTHING, isUnderWay = false } = room;
    const folder = limit.path;
    const needed = subtract(add(amount, spare), sumWithin(folder, credit));
    const asked = { limit, share, amount, needed };
    const first = await tryToReserve(asked, !isUnderWay && mayWalk(folder));
    if (typeof first === "object") throw createQuotaError(first);
    if (first === "reserved") return;
    if (!isUnderWay) await count({ folder, isNeeded: isLost });
    const answer = await tryToReserve(asked, false);
    if (typeof answer === "object") throw createQuotaError(answer);
    if (answer === "uncounted") throw new StorageError("unavailable", `Too much changes in ${folder} to count it.`);
  }

  /** `mayCount`: whether the caller can have the folder counted first. */
  async function tryToReserve(asked: Asked, mayCount: boolean): Promise<Decision["answer"] | "uncounted"> {
    const folder = asked.limit.path;
    watch(folder);
    let decision: Decision | undefined;
    const record = await update(
      folder,
      (current) => {
        decision = undefined;
        const mustCount = current === undefined || current.countedAt === 0;
        const shouldCount = mustCount || isLost(folder, current);
        if (mustCount || (shouldCount && mayCount)) return current;
        decision = held.decide(current, asked);
        return held.withDecision(current, asked, decision);
      },
      () => decision && held.note(asked, decision),
    );
    // Not awaited: until the walk ends, the old count is used.
    if (record !== undefined && isDue(record) && isLoopShared && mayWalk(folder)) {
      void count({ folder, isNeeded: isLostOrDue }).catch(() => undefined);
    }
    return decision?.answer ?? "uncounted";
  }

  async function settle(folder: string, settlement: Settlement, released?: Released): Promise<void> {
    const { parts = NO_PARTS, losesUploads = false } = settlement;
    const uploads = sumWithin(folder, settlement.uploads ?? NO_PARTS);
    const change = sumWithin(folder, parts);

    function onStored(): void {
      if (released) held.release(folder, released);
      const counted = ownChanges.get(folder);
      if (counted !== undefined && !isNothing(change)) ownChanges.set(folder, counted + 1);
      for (const { path, amount } of parts) if (countsIn(path, folder)) walks.note(folder, path, amount);
    }

    function next(record: CountRecord): CountRecord {
      const leased = held.withReleased(record, folder, released);
      const settled = withUsed(withUploads(leased, uploads), change);
      return losesUploads && !isNothing(record.uploads.amount) ? asStale(settled) : settled;
    }

    const isReleased = released !== undefined && !isNothing(released.amount);
    if (!isReleased && isNothing(uploads) && isNothing(change) && !losesUploads) {
      onStored();
      return;
    }
    try {
      await update(folder, (record) => record && next(record), onStored);
    } catch {
      // It has happened. The count is wrong until the next walk.
      if (released) held.release(folder, released);
      lost.add(folder);
    }
  }

  async function extend(limit: QuotaLimit, share: Share, credit: readonly ChangedPart[] = []): Promise<void> {
    const asked = { limit, share, amount: NOTHING, needed: subtract(NOTHING, sumWithin(limit.path, credit)) };
    let decision: Decision | undefined;
    await update(
      limit.path,
      (record) => {
        decision = record && held.decide(record, asked);
        return record && decision && held.withDecision(record, asked, decision);
      },
      () => decision && held.note(asked, decision),
    );
    if (typeof decision?.answer === "object") throw createQuotaError(decision.answer);
  }

  async function markStale(folders: readonly string[]): Promise<void> {
    for (const folder of folders) {
      await update(folder, (record) => record && asStale(record)).catch(() => lost.add(folder));
    }
  }

  return { usage, recount, recountIfDue, recountLost, reserve, settle, extend, markStale, findCounted };
}
