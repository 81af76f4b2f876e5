import { type AtomicKeyValueStore, updateText } from "../../contracts/atomic-store.ts";
import { isStorageError } from "../../contracts/storage-adapter.ts";
import { createError } from "../../http/errors.ts";
import { isHttpError } from "../../http/http-error.ts";
import { sha256Hex } from "../../platform/sha256.ts";
import { toStoragePath } from "../path.ts";
import type { PlacedLock } from "./lock.ts";
import { type LockRecord, parseRecord, timeToLive, writeRecord } from "./lock-record.ts";

/** The records of folders in a store. Paths are segments below the storage's root. */
export interface LockRecords {
  /** The locks that are rooted at the members of a folder; of `undefined`, at the root of the storage. */
  locksIn(folder: readonly string[] | undefined): Promise<readonly PlacedLock[]>;
  /** The locks that are rooted at a path or at a folder around it. */
  locksAround(path: readonly string[]): Promise<readonly PlacedLock[]>;
  /** The locks that are rooted below a folder. */
  locksBelow(folder: readonly string[]): Promise<readonly PlacedLock[]>;
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
  async function read(folder: readonly string[] | undefined): Promise<LockRecord> {
    return guarded(async () => parseRecord(toText(await store.get(toKey(folder))), clock()));
  }

  async function locksIn(folder: readonly string[] | undefined): Promise<readonly PlacedLock[]> {
    return toPlaced(folder, await read(folder));
  }

  async function locksAround(path: readonly string[]): Promise<readonly PlacedLock[]> {
    const names: readonly (string | undefined)[] = ["", ...path];
    const records = await Promise.all(
      names.map((_, length) => locksIn(length === 0 ? undefined : path.slice(0, length - 1))),
    );
    return records.flatMap((locks, length) => locks.filter(({ name }) => name === names[length]));
  }

  async function locksBelow(top: readonly string[]): Promise<readonly PlacedLock[]> {
    const found: PlacedLock[] = [];
    const waiting = [top];
    for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
      const record = await read(folder);
      found.push(...toPlaced(folder, record));
      for (const name of record.below.keys()) waiting.push([...folder, name]);
    }
    return found;
  }

  async function change(
    folder: readonly string[] | undefined,
    next: (record: LockRecord) => LockRecord,
  ): Promise<void> {
    let ttl = 1;
    await guarded(() =>
      updateText(
        store,
        toKey(folder),
        () => ttl,
        (current) => {
          const now = clock();
          const record = next(parseRecord(current, now));
          ttl = timeToLive(record, now);
          return writeRecord(record);
        },
      ),
    );
  }

  return { locksIn, locksAround, locksBelow, change };
}

/** Runs work on the store of locks. Its failures mean that nothing is known of locks. */
export async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (isHttpError(cause) || (isStorageError(cause) && cause.code === "no-space")) throw cause;
    throw createError("lock-store-unavailable", { headers: { "Retry-After": "1" }, cause });
  }
}

/** Paths may be longer than the keys of stores. */
function toKey(folder: readonly string[] | undefined): string {
  return `lock:${sha256Hex(folder === undefined ? "" : toStoragePath(folder))}`;
}

function toText(value: unknown): string | undefined {
  if (value === undefined || typeof value === "string") return value;
  throw new TypeError("The stored value is not a text.");
}

function toPlaced(folder: readonly string[] | undefined, { locks }: LockRecord): readonly PlacedLock[] {
  return locks.map((lock) => ({ ...lock, root: folder === undefined ? [] : [...folder, lock.name] }));
}
