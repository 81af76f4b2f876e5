import type { KeyValueStore } from "../contracts/key-value-store.ts";
import { checkOption } from "../contracts/option-error.ts";

/** Options of {@link createMemoryKeyValueStore}. */
export interface MemoryKeyValueStoreOptions {
  /** Milliseconds since any fixed moment. Default: `Date.now`. */
  readonly clock?: () => number;
  /**
   * The number of entries of each kind. One more removes the entry of that kind that was written longest ago, even if
   * it has not expired. The kind of a key is the part before the first `:`. After 100 kinds, all further ones share one
   * kind with the keys without `:`. Default: 100,000.
   */
  readonly maxEntries?: number;
}

interface Entry {
  readonly json: string;
  readonly expires: number;
}

/** The number of kinds with entries of their own. Clients may influence keys, and so the number of kinds. */
const MAX_KINDS = 100;
/** The kind of keys without a colon, and of all kinds over the limit. */
const COMMON = "";

/** The number of entries that each `set` checks for expiry, so that expired ones remain a small part of all. */
const SWEPT_PER_SET = 10;

/**
 * A store in the memory of one process: it ends with the process, and no other process sees it. It keeps JSON text, so
 * values are copied on the way in and out. It has no timers: an expired entry is removed when it is read, or by one of
 * the next calls of `set`, each of which checks some entries.
 *
 * `set` rejects with `TypeError` for a value that is not JSON, and for a time to live that is not positive.
 * @throws OptionError
 */
export function createMemoryKeyValueStore(options: MemoryKeyValueStoreOptions = {}): KeyValueStore {
  const { clock = Date.now, maxEntries = 100_000 } = options;
  checkOption(Number.isSafeInteger(maxEntries) && maxEntries >= 1, "maxEntries", "a whole number, 1 or more");
  /** Entries by kind: an attacker who invents user names fills the kind of failed logins, but removes no session. */
  const kinds = new Map<string, Map<string, Entry>>();
  let sweep = everyEntry(kinds);

  /** The kind that holds a key, or would hold it. An entry of the common kind stays there until it is removed. */
  function findKind(key: string): string {
    if (kinds.get(COMMON)?.has(key) === true) return COMMON;
    const kind = toKind(key);
    const own = kinds.size - Number(kinds.has(COMMON));
    return kinds.has(kind) || own < MAX_KINDS ? kind : COMMON;
  }

  /** Removes an entry. A kind without entries is removed too, so that it does not count towards the limit. */
  function drop(kind: string, key: string): void {
    const entries = kinds.get(kind);
    entries?.delete(key);
    if (entries?.size === 0) kinds.delete(kind);
  }

  /**
   * Checks the next entries. The iterator of a `Map` also visits entries that are added later; at its end a new one
   * starts.
   */
  function sweepSome(now: number): void {
    for (let count = 0; count < SWEPT_PER_SET; count += 1) {
      const step = sweep.next();
      if (step.done) {
        sweep = everyEntry(kinds);
        return;
      }
      const { kind, key, entry } = step.value;
      if (entry.expires <= now) drop(kind, key);
    }
  }

  async function get(key: string): Promise<unknown> {
    const kind = findKind(key);
    const entry = kinds.get(kind)?.get(key);
    if (entry === undefined) return undefined;
    if (entry.expires > clock()) return JSON.parse(entry.json);
    drop(kind, key);
    return undefined;
  }

  async function set(key: string, value: unknown, ttlMilliseconds: number): Promise<void> {
    const json: string | undefined = JSON.stringify(value);
    if (json === undefined) throw new TypeError("The value is not a JSON value.");
    if (!(ttlMilliseconds > 0)) throw new TypeError("The time to live must be positive.");
    const now = clock();
    const kind = findKind(key);
    const entries = kinds.get(kind) ?? new Map<string, Entry>();
    kinds.set(kind, entries);
    entries.delete(key);
    entries.set(key, { json, expires: now + ttlMilliseconds });
    sweepSome(now);
    for (const oldest of entries.keys()) {
      if (entries.size <= maxEntries) break;
      entries.delete(oldest);
    }
  }

  async function forget(key: string): Promise<void> {
    drop(findKind(key), key);
  }

  return { get, set, delete: forget };
}

function* everyEntry(kinds: ReadonlyMap<string, Map<string, Entry>>) {
  for (const [kind, entries] of kinds) for (const [key, entry] of entries) yield { kind, key, entry };
}

/** The kind of a key, with its colon; {@link COMMON} for a key without one. */
function toKind(key: string): string {
  return key.slice(0, key.indexOf(":") + 1);
}
