import { type AtomicKeyValueStore, updateText } from "../../contracts/atomic-store.ts";
import { hasCode } from "../../contracts/storage-adapter.ts";
import { orRetryError } from "../../http/errors.ts";
import { isHttpError } from "../../http/http-error.ts";
import { yieldToEventLoop } from "../../platform/event-loop.ts";
import { createRequestMutex } from "../../platform/keyed-mutex.ts";
import { sha256Hex } from "../../platform/sha256.ts";
import { toStoragePath } from "../path.ts";
import type { RootedLock } from "./lock.ts";
import { EMPTY_RECORD, type LockRecord, parseRecord, timeToLive, withMark, writeRecord } from "./lock-record.ts";

/** The number of folders of a path whose records are read at once. */
const LEVELS = 16;

/**
 * After how much work of all requests other ones must run: a tree may have locks in ten thousands of folders, and a
 * store may never wait for anything. The unit is a character of a record.
 */
const MAX_WORK = 200_000;
const WORK_PER_READ = 2000;

/** The records of folders in a store. Paths are segments below the storage's root. */
export interface LockRecords {
  /** The locks that are rooted at the members of a folder; of `undefined`, at the root of the storage. */
  locksIn(folder: readonly string[] | undefined): Promise<readonly RootedLock[]>;
  /** The locks that are rooted at a path or at a folder around it. */
  locksAround(path: readonly string[]): Promise<readonly RootedLock[]>;
  /** The locks that are rooted below a folder. */
  locksBelow(folder: readonly string[]): Promise<readonly RootedLock[]>;
  /** Marks that there are locks below a member of a folder until a time. Marks for longer stay. */
  mark(folder: readonly string[], name: string, until: number): Promise<void>;
  /**
   * Removes the mark of a member of a folder if there are neither locks nor marks in that member. Returns whether there
   * is no mark now. A caller that marks the folder, stores a lock, and then marks it again has a mark from then on.
   */
  removeUnusedMark(folder: readonly string[], name: string): Promise<boolean>;
  /** Changes the record of a folder in one step. If `next` throws, nothing changes. */
  change(folder: readonly string[] | undefined, next: (record: LockRecord) => LockRecord): Promise<void>;
}

/**
 * Creates the records of locks: one for each folder that has locked members, or folders with locks in them.
 *
 * All methods throw HttpError `unavailable` if the store fails, and a `StorageError` of the code `no-space` if it is
 * full.
 */
export function createLockRecords(store: AtomicKeyValueStore, clock: () => number): LockRecords {
  // Without it, changes of one process would repeat their attempts because of each other.
  const withKeyLock = createRequestMutex();

  let work = 0;

  async function read(folder: readonly string[] | undefined): Promise<LockRecord> {
    return mapLockStoreErrors(async () => {
      const text = toText(await store.get(toKey(folder)));
      work += WORK_PER_READ + (text?.length ?? 0);
      if (work > MAX_WORK) {
        work = 0;
        await yieldToEventLoop();
      }
      return parseRecord(text, clock());
    });
  }

  async function locksIn(folder: readonly string[] | undefined): Promise<readonly RootedLock[]> {
    return toRooted(folder, await read(folder));
  }

  async function locksAround(path: readonly string[]): Promise<readonly RootedLock[]> {
    const found = (await locksIn(undefined)).slice();
    for (let start = 0; start < path.length; start += LEVELS) {
      const levels = path.slice(start, start + LEVELS);
      const folders = levels.map((_, index) => path.slice(0, start + index));
      const records = await Promise.all(folders.map(read));
      for (const [index, name] of levels.entries()) {
        const rooted = toRooted(folders[index], records[index] ?? EMPTY_RECORD);
        found.push(...rooted.filter((lock) => lock.name === name));
      }
      // Without a mark there is nothing deeper. A path may have thousands of levels, which need not even exist.
      if (!records.at(-1)?.below.has(levels.at(-1) ?? "")) break;
    }
    return found;
  }

  async function locksBelow(top: readonly string[]): Promise<readonly RootedLock[]> {
    const found: RootedLock[] = [];
    const waiting = [top];
    for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
      const record = await read(folder);
      found.push(...toRooted(folder, record));
      for (const name of record.below.keys()) waiting.push([...folder, name]);
    }
    return found;
  }

  async function change(
    folder: readonly string[] | undefined,
    next: (record: LockRecord) => LockRecord,
  ): Promise<void> {
    const key = toKey(folder);
    let ttl = 1;
    const update = (): Promise<unknown> =>
      updateText(
        store,
        key,
        () => ttl,
        (current) => {
          const now = clock();
          const record = next(parseRecord(current, now));
          ttl = timeToLive(record, now);
          return writeRecord(record);
        },
      );
    await mapLockStoreErrors(() => withKeyLock(key, update));
  }

  async function mark(folder: readonly string[], name: string, until: number): Promise<void> {
    const isMarked = ({ below }: LockRecord): boolean => {
      const found = below.get(name);
      return found !== undefined && found.until >= until && found.removal === undefined;
    };
    if (isMarked(await read(folder))) return;
    await change(folder, (record) => {
      const last = Math.max(until, record.below.get(name)?.until ?? 0);
      return isMarked(record) ? record : withMark(record, name, { until: last });
    });
  }

  async function isEmpty(folder: readonly string[]): Promise<boolean> {
    const { locks, below } = await read(folder);
    return locks.length === 0 && below.size === 0;
  }

  async function removeUnusedMark(folder: readonly string[], name: string): Promise<boolean> {
    const inner = [...folder, name];
    if (!(await isEmpty(inner))) return false;
    if (!(await read(folder)).below.has(name)) return true;
    const removal = crypto.randomUUID();
    await change(folder, (record) => {
      const found = record.below.get(name);
      return found === undefined ? record : withMark(record, name, { ...found, removal });
    });
    // A caller that takes a lock from now on sees the removal, and marks the folder again. One that did not see it has
    // a lock there already.
    if (!(await isEmpty(inner))) return false;
    let isMine = false;
    await change(folder, (record) => {
      isMine = record.below.get(name)?.removal === removal;
      return isMine ? withMark(record, name, undefined) : record;
    });
    return isMine;
  }

  return { locksIn, locksAround, locksBelow, mark, removeUnusedMark, change };
}

/** Runs work on the store of locks. @throws HttpError `unavailable` if the store fails, StorageError `no-space`. */
export function mapLockStoreErrors<T>(work: () => Promise<T>): Promise<T> {
  return orRetryError("lock-store-unavailable", work, (cause) => isHttpError(cause) || hasCode(cause, "no-space"));
}

/** Paths may be longer than the keys of stores. */
function toKey(folder: readonly string[] | undefined): string {
  return `lock:${sha256Hex(folder === undefined ? "" : toStoragePath(folder))}`;
}

function toText(value: unknown): string | undefined {
  if (value === undefined || typeof value === "string") return value;
  throw new TypeError("The stored value is not a text.");
}

function toRooted(folder: readonly string[] | undefined, { locks }: LockRecord): readonly RootedLock[] {
  return locks.map((lock) => ({ ...lock, root: folder === undefined ? [] : [...folder, lock.name] }));
}
