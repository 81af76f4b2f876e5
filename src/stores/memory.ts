import type { KeyValueStore } from "../contracts/key-value-store.ts";
import { checkOption } from "../contracts/option-error.ts";

/** How the store counts time and how much it keeps. */
export interface MemoryKeyValueStoreOptions {
  /** Milliseconds since any fixed moment. Default: `Date.now`. */
  readonly clock?: () => number;
  /**
   * The most entries it keeps of each kind: beyond it, the one of that kind that was written longest ago goes, whether or not its time is over. A kind is
   * what stands before the first `:` of a key; beyond a hundred of them, further ones are one together with the keys that have none. Default: 100,000.
   */
  readonly maxEntries?: number;
}

interface Entry {
  readonly json: string;
  readonly expires: number;
}

/** So many kinds have room of their own: keys may be anybody's, and so what they begin with. */
const mostKinds = 100;
/** The kind of all others, and of keys without a colon. */
const COMMON = "";

/** So many entries each `set` looks at for expired ones: the dead never outnumber a small part of the living. */
const sweptPerSet = 10;

/**
 * A store in the memory of one process: gone with it, seen by no other. It keeps JSON text, so what goes in and
 * what comes out are copies. Without timers: expired entries go when they are asked for, and step by step as others are set.
 *
 * Throws `TypeError` for a `maxEntries` that is not a count; `set` rejects with it for a value that is not JSON
 * and a time to live that is not positive.
 */
export function createMemoryKeyValueStore(options: MemoryKeyValueStoreOptions = {}): KeyValueStore {
  const { clock = Date.now, maxEntries = 100_000 } = options;
  checkOption(Number.isSafeInteger(maxEntries) && maxEntries >= 1, "maxEntries", "a whole number, 1 or more");
  /** Whoever makes up names to fail to log in with fills the kind of failed logins, and pushes no session out. */
  const kinds = new Map<string, Map<string, Entry>>();
  let sweep = everyEntry(kinds);

  /** The kind that a key's entry is in, or would be: what began in the common one stays there until it goes. */
  function findKind(key: string): string {
    if (kinds.get(COMMON)?.has(key) === true) return COMMON;
    const kind = toKind(key);
    const own = kinds.size - Number(kinds.has(COMMON));
    return kinds.has(kind) || own < mostKinds ? kind : COMMON;
  }

  /** Kinds without entries take no memory, and nobody's place. */
  function drop(kind: string, key: string): void {
    const entries = kinds.get(kind);
    entries?.delete(key);
    if (entries?.size === 0) kinds.delete(kind);
  }

  /** Live iterators of `Map`s meet later entries too; it starts anew when it is through. */
  function sweepSome(now: number): void {
    for (let count = 0; count < sweptPerSet; count += 1) {
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

/** With its colon; {@link COMMON} for a key without. */
function toKind(key: string): string {
  return key.slice(0, key.indexOf(":") + 1);
}
