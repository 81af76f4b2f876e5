import { type AtomicKeyValueStore, updateText } from "../../contracts/atomic-store.ts";
import { hasCode, StorageError } from "../../contracts/storage-adapter.ts";
import { createRequestMutex } from "../../platform/keyed-mutex.ts";
import { sha256Hex } from "../../platform/sha256.ts";
import { type CountRecord, parseCount, toCountText, withLostLeases } from "./record.ts";

/** Where the counts of folders are. Methods reject with StorageError `unavailable` if the store fails. */
export interface CountRecords {
  find(folder: string): Promise<CountRecord | undefined>;
  /**
   * Changes a record in one step, and returns the new one. `onStored` is called in the same step of this process.
   * `change` may be called more than once.
   */
  update(
    folder: string,
    change: (record: CountRecord | undefined) => CountRecord | undefined,
    onStored?: () => void,
  ): Promise<CountRecord | undefined>;
  /** Returns those of some folders that have a record. */
  findCounted(folders: readonly string[]): Promise<readonly string[]>;
}

/** Creates records in the memory of this process. `clock` returns milliseconds. */
export function createOwnRecords(clock: () => number): CountRecords {
  const records = new Map<string, CountRecord>();

  function get(folder: string): CountRecord | undefined {
    const record = records.get(folder);
    return record && withLostLeases(record, clock());
  }

  return {
    find: async (folder) => get(folder),
    async update(folder, change, onStored) {
      const next = change(get(folder));
      if (next !== undefined) records.set(folder, next);
      onStored?.();
      return next;
    },
    findCounted: async (folders) => folders.filter((folder) => records.has(folder)),
  };
}

/** Creates records that begin as others are, and keep their changes to themselves. */
export function createDryRecords({ find: findFirst, findCounted }: CountRecords): CountRecords {
  const records = new Map<string, CountRecord>();

  const find = async (folder: string): Promise<CountRecord | undefined> => records.get(folder) ?? findFirst(folder);

  return {
    find,
    async update(folder, change, onStored) {
      const first = await find(folder);
      const next = change(records.get(folder) ?? first);
      if (next !== undefined) records.set(folder, next);
      onStored?.();
      return next;
    },
    async findCounted(folders) {
      const counted = await findCounted(folders);
      return folders.filter((folder) => records.has(folder) || counted.includes(folder));
    },
  };
}

/** A record that nothing has asked for in this time is made again. */
const TTL_MILLISECONDS = 90 * 86_400_000;

/** Creates records in a store that processes can share. */
export function createSharedRecords(store: AtomicKeyValueStore, clock: () => number): CountRecords {
  const withKeyLock = createRequestMutex();

  async function find(folder: string): Promise<CountRecord | undefined> {
    const text = await mapStoreErrors(() => store.get(toKey(folder)));
    return typeof text === "string" ? parseCount(text, clock()) : undefined;
  }

  const update: CountRecords["update"] = (folder, change, onStored) =>
    withKeyLock(folder, async () => {
      const text = await mapStoreErrors(() =>
        updateText(store, toKey(folder), TTL_MILLISECONDS, (current) => {
          const next = change(current === undefined ? undefined : parseCount(current, clock()));
          return next && toCountText(next);
        }),
      );
      onStored?.();
      return text === undefined ? undefined : parseCount(text, clock());
    });

  async function findCounted(folders: readonly string[]): Promise<readonly string[]> {
    const texts = await mapStoreErrors(() => Promise.all(folders.map((folder) => store.get(toKey(folder)))));
    return folders.filter((_, index) => texts[index] !== undefined);
  }

  return { find, update, findCounted };
}

/** Readers of the store see no path. */
function toKey(folder: string): string {
  return `quota:${sha256Hex(folder)}`;
}

async function mapStoreErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (hasCode(cause, "unavailable")) throw cause;
    throw new StorageError("unavailable", "The store of the quotas failed.", { cause });
  }
}
