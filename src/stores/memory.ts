import type { KeyValueStore } from "../contracts/key-value-store.ts";

/** How the store counts time and how much it keeps. */
export interface MemoryKeyValueStoreOptions {
  /** Milliseconds since any fixed moment. Default: `Date.now`. */
  readonly clock?: () => number;
  /** The most entries it keeps: beyond it, the one written longest ago goes, whether or not its time is over. Default: 100,000. */
  readonly maxEntries?: number;
}

interface Entry {
  readonly json: string;
  readonly expires: number;
}

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
  if (!Number.isSafeInteger(maxEntries) || maxEntries < 1) throw new TypeError("maxEntries must be 1 or more");
  const entries = new Map<string, Entry>();
  let sweep = entries.entries();

  /** A live iterator of a `Map` meets later entries too and starts anew when it is through. */
  function sweepSome(now: number): void {
    for (let count = 0; count < sweptPerSet; count += 1) {
      const step = sweep.next();
      if (step.done) {
        sweep = entries.entries();
        return;
      }
      const [key, entry] = step.value;
      if (entry.expires <= now) entries.delete(key);
    }
  }

  async function get(key: string): Promise<unknown> {
    const entry = entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.expires > clock()) return JSON.parse(entry.json);
    entries.delete(key);
    return undefined;
  }

  async function set(key: string, value: unknown, ttlMilliseconds: number): Promise<void> {
    const json: string | undefined = JSON.stringify(value);
    if (json === undefined) throw new TypeError("The value is not a JSON value.");
    if (!(ttlMilliseconds > 0)) throw new TypeError("The time to live must be positive.");
    const now = clock();
    entries.delete(key);
    entries.set(key, { json, expires: now + ttlMilliseconds });
    sweepSome(now);
    for (const oldest of entries.keys()) {
      if (entries.size <= maxEntries) break;
      entries.delete(oldest);
    }
  }

  async function forget(key: string): Promise<void> {
    entries.delete(key);
  }

  return { get, set, delete: forget };
}
