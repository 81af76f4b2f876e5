import type { AtomicKeyValueStore } from "../contracts/atomic-store.ts";
import { checkOption } from "../contracts/option-error.ts";
import { StorageError } from "../contracts/storage-adapter.ts";
import { toEntryText, toReplacement } from "./entry-text.ts";
import { createEntryKinds } from "./memory/entry-kinds.ts";

/** Options of {@link createMemoryKeyValueStore}. */
export interface MemoryKeyValueStoreOptions {
  /** Milliseconds since any fixed moment. Default: `Date.now`. */
  readonly clock?: () => number;
  /**
   * The number of entries of each kind. One more `set` removes the entry of that kind that was set longest ago, even if
   * it has not expired. What `replace` stored counts separately and is never evicted: one more is refused. The kind of
   * a key is the part before the first `:`. After 100 kinds, all further ones share one kind with the keys without `:`.
   * Default: 100,000.
   */
  readonly maxEntries?: number;
}

/**
 * A store in the memory of one process: it ends with the process, and no other process sees it. It keeps JSON text, so
 * values are copied on the way in and out. It has no timers: an expired entry is removed when it is read, or by one of
 * the next calls of `set` or `replace`, each of which checks some entries.
 *
 * `set` and `replace` reject with `TypeError` for a value that is not JSON, and for a time to live that is not
 * positive; `replace` also with a `StorageError` of the code `no-space` if there are `maxEntries` already.
 * @throws OptionError
 */
export function createMemoryKeyValueStore(options: MemoryKeyValueStoreOptions = {}): AtomicKeyValueStore {
  const { clock = Date.now, maxEntries = 100_000 } = options;
  checkOption(Number.isSafeInteger(maxEntries) && maxEntries >= 1, "maxEntries", "a whole number, 1 or more");
  /** A key is in one of them at most: in that of the last call that wrote it. */
  const [evictable, kept] = [createEntryKinds(maxEntries, "evict"), createEntryKinds(maxEntries, "refuse")];

  function find(key: string, now: number): string | undefined {
    return (evictable.find(key, now) ?? kept.find(key, now))?.json;
  }

  async function get(key: string): Promise<unknown> {
    const json = find(key, clock());
    return json === undefined ? undefined : JSON.parse(json);
  }

  async function set(key: string, value: unknown, ttlMilliseconds: number): Promise<void> {
    const json = toEntryText(value, ttlMilliseconds);
    const now = clock();
    kept.delete(key);
    evictable.put(key, { json, expires: now + ttlMilliseconds }, now);
  }

  async function replace(
    key: string,
    expected: string | undefined,
    next: string | undefined,
    ttlMilliseconds: number,
  ): Promise<boolean> {
    const texts = toReplacement(expected, next, ttlMilliseconds);
    const now = clock();
    if (find(key, now) !== texts.expected) return false;
    if (texts.next === undefined) kept.delete(key);
    else if (!kept.put(key, { json: texts.next, expires: now + ttlMilliseconds }, now)) {
      throw new StorageError("no-space", `The store has ${maxEntries} entries that must not be evicted.`);
    }
    evictable.delete(key);
    return true;
  }

  async function forget(key: string): Promise<void> {
    evictable.delete(key);
    kept.delete(key);
  }

  return { get, set, delete: forget, replace };
}
