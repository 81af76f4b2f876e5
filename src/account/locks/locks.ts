import type { AtomicKeyValueStore } from "../../contracts/atomic-store.ts";
import { createError } from "../../http/errors.ts";
import { inParallel } from "../../platform/in-parallel.ts";
import { appliesTo, excludes, type RootedLock } from "./lock.ts";
import { createLockCounts } from "./lock-counts.ts";
import { toMark, withLock, withoutLocks } from "./lock-record.ts";
import { createLockRecords, type LockRecords } from "./lock-records.ts";
import { createRunningChanges, type RunningChanges } from "./running-changes.ts";

/** The write locks of a storage (RFC 4918 6, 7). Paths are segments below the storage's root. */
export interface Locks extends Pick<LockRecords, "locksIn" | "locksAround"> {
  /** All locks in the store, also those of accounts that do not have them any more, or not now. */
  readonly stored: Pick<LockRecords, "locksAround" | "locksBelow">;
  /** Selects the locks whose accounts still have them. */
  onlyValid(found: readonly RootedLock[]): Promise<readonly RootedLock[]>;
  /** The changes of files in this process, which new locks wait for. */
  readonly running: RunningChanges;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /**
   * Takes a lock. Returns the locks that exclude it; none if it was taken. Of two locks that exclude each other and are
   * taken at the same moment, both may be refused, but never both taken.
   * @throws HttpError `no-space` if there are too many.
   */
  take(lock: RootedLock): Promise<readonly RootedLock[]>;
  /** Gives a lock another end. Returns whether it still exists. */
  extend(lock: RootedLock): Promise<boolean>;
  /** Ends locks. Those that have ended already are no error. */
  end(locks: readonly RootedLock[]): Promise<void>;
}

/** Options of {@link createLocks}. */
export interface LocksOptions {
  readonly store: AtomicKeyValueStore;
  readonly clock: () => number;
  readonly maxPerAccount: number;
  /** Whether an account, or a link, still has its locks. The locks of others count no more. Default: all have them. */
  readonly hasLocks?: (account: string) => Promise<boolean>;
}

/** How many accounts and links are asked about at the same time. */
const PARALLEL = 16;
/** The number of shared locks of one file or folder. */
const MAX_SHARED = 100;

/** Services and servers of other protocols on one store share the changes of their process. */
const runningOf = new WeakMap<AtomicKeyValueStore, RunningChanges>();

/**
 * Creates the locks of a storage. All methods throw HttpError `unavailable` if the store fails, and `StorageError`
 * `no-space` if it is full.
 */
export function createLocks({ store, clock, maxPerAccount, hasLocks }: LocksOptions): Locks {
  const records = createLockRecords(store, clock);
  const counts = createLockCounts(store, clock, maxPerAccount);
  const running = runningOf.get(store) ?? createRunningChanges();
  runningOf.set(store, running);

  async function onlyValid(found: readonly RootedLock[]): Promise<readonly RootedLock[]> {
    if (hasLocks === undefined || found.length === 0) return found;
    const ended = new Set<string>();
    await inParallel(new Set(found.map(({ account }) => account)), { most: PARALLEL }, async (account) => {
      if (!(await hasLocks(account))) ended.add(account);
    });
    return ended.size === 0 ? found : found.filter(({ account }) => !ended.has(account));
  }

  /** Returns the locks that exclude a lock, and whether it is stored itself. */
  async function look(lock: RootedLock): Promise<{ conflicts: readonly RootedLock[]; isStored: boolean }> {
    const { root, depth } = lock;
    const around = await records.locksAround(root);
    const below = depth === "infinity" ? await records.locksBelow(root) : [];
    const conflicts = [...around.filter((other) => appliesTo(other, root)), ...below];
    return {
      conflicts: conflicts.filter((other) => excludes(other, lock)),
      isStored: around.some(({ token }) => token === lock.token),
    };
  }

  /** Marks the folders around a lock, from the top, so that checks of these folders find it. */
  async function mark({ root, ends }: RootedLock): Promise<void> {
    const time = toMark(ends);
    for (let length = 0; length < root.length - 1; length += 1) {
      const name = root[length] ?? "";
      await records.mark(root.slice(0, length), name, time);
    }
  }

  /** Stores a lock unless there is one at the same path that excludes it. */
  async function addToRecord(lock: RootedLock): Promise<readonly RootedLock[]> {
    const { root, ...stored } = lock;
    let conflicts: readonly RootedLock[] = [];
    await records.change(folderOf(lock), (record) => {
      const others = record.locks.filter(({ name }) => name === lock.name).map((other) => ({ ...other, root }));
      conflicts = others.filter((other) => excludes(other, lock));
      if (conflicts.length > 0) return record;
      if (others.length >= MAX_SHARED) throw createError("too-many-shared-locks", { values: { max: MAX_SHARED } });
      return withLock(record, stored);
    });
    return conflicts;
  }

  async function take(lock: RootedLock): Promise<readonly RootedLock[]> {
    const { conflicts: early } = await look(lock);
    const valid = await onlyValid(early);
    if (valid.length > 0) return valid;
    // They end now, so that they do not count again if their link does.
    if (early.length > 0) await end(early);
    try {
      let conflicts: readonly RootedLock[] | undefined;
      // A change that removes what is locked may end this lock with those that it has found.
      while (conflicts === undefined) conflicts = await tryToTake(lock);
      if (conflicts.length > 0) await end([lock]);
      return conflicts;
    } catch (error) {
      // A store that fails may have stored the lock all the same.
      await end([lock]).catch(() => undefined);
      throw error;
    }
  }

  /** Returns the locks that exclude a lock; `undefined` if it was ended meanwhile. */
  async function tryToTake(lock: RootedLock): Promise<readonly RootedLock[] | undefined> {
    // First, so that an account leaves no marks with locks that it may not have.
    await counts.put(lock);
    await mark(lock);
    const same = await addToRecord(lock);
    // Now that others can see this lock: of two that overlap, at least one sees the other.
    const early = same.length > 0 ? same : (await look(lock)).conflicts;
    if (early.length > 0) return early;
    // The end of another lock may have removed a mark meanwhile, so that others around this lock did not see it.
    await mark(lock);
    await running.settled(lock.root, lock.depth);
    const { conflicts, isStored } = await look(lock);
    return isStored || lock.ends <= clock() ? conflicts : undefined;
  }

  async function extend(lock: RootedLock): Promise<boolean> {
    const { root, ...stored } = lock;
    let isFound = false;
    await mark(lock);
    await records.change(folderOf(lock), (record) => {
      isFound = record.locks.some(({ token }) => token === lock.token);
      return isFound ? withLock(record, stored) : record;
    });
    if (isFound) await counts.put(lock);
    return isFound;
  }

  async function end(locks: readonly RootedLock[]): Promise<void> {
    for (const group of groupBy(locks, (lock) => JSON.stringify(folderOf(lock) ?? null))) {
      const folder = folderOf(group[0]);
      await records.change(folder, (record) => withoutLocks(record, toTokens(group)));
      if (folder !== undefined) await removeMarks(folder);
    }
    for (const group of groupBy(locks, ({ account }) => account)) {
      await counts.remove(group[0].account, toTokens(group));
    }
  }

  /** Removes the marks of folders in which no lock is left, so that a client cannot fill the store with them. */
  async function removeMarks(from: readonly string[]): Promise<void> {
    for (let folder = from; folder.length > 0; folder = folder.slice(0, -1)) {
      if (!(await records.removeUnusedMark(folder.slice(0, -1), folder.at(-1) ?? ""))) return;
    }
  }

  return {
    locksIn: async (folder) => onlyValid(await records.locksIn(folder)),
    locksAround: async (path) => onlyValid(await records.locksAround(path)),
    stored: records,
    onlyValid,
    running,
    clock,
    take,
    extend,
    end,
  };
}

/** The folder whose record has a lock; `undefined` for a lock of the storage's root. */
function folderOf({ root }: RootedLock): readonly string[] | undefined {
  return root.length === 0 ? undefined : root.slice(0, -1);
}

function toTokens(locks: readonly RootedLock[]): ReadonlySet<string> {
  return new Set(locks.map(({ token }) => token));
}

type Group = readonly [RootedLock, ...RootedLock[]];

function groupBy(locks: readonly RootedLock[], keyOf: (lock: RootedLock) => string): readonly Group[] {
  const groups = new Map<string, [RootedLock, ...RootedLock[]]>();
  for (const lock of locks) {
    const group = groups.get(keyOf(lock));
    if (group === undefined) groups.set(keyOf(lock), [lock]);
    else group.push(lock);
  }
  return [...groups.values()];
}
