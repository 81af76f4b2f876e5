/** A stored JSON text. */
export interface StoredText {
  readonly json: string;
  /** Milliseconds on the store's clock. */
  readonly expires: number;
}

/** Entries by their keys, with a limit for each kind of key: the part before the first `:`. */
export interface EntryKinds {
  /** Returns an entry that has not expired. */
  find(key: string, now: number): StoredText | undefined;
  /** Stores an entry, and returns false if its kind is full: see {@link WhenFull}. */
  put(key: string, entry: StoredText, now: number): boolean;
  delete(key: string): void;
}

/** What a full kind does with a new key: it evicts the entry written longest ago, or refuses the key. */
export type WhenFull = "evict" | "refuse";

interface Kind {
  readonly entries: Map<string, StoredText>;
  /** No entry expires before this time. */
  earliest: number;
}

/** The number of kinds with entries of their own. Clients may influence keys, and so the number of kinds. */
const MAX_KINDS = 100;
/** The kind of keys without a colon, and of all kinds over the limit. */
const COMMON = "";

/** The number of entries that each `put` checks for expiry, so that expired ones remain a small part of all. */
const SWEPT_PER_PUT = 10;

/** Makes an empty table. It has no timers: expired entries are removed by the next calls. */
export function createEntryKinds(maxEntries: number, whenFull: WhenFull): EntryKinds {
  /** Entries by kind: an attacker who invents user names fills the kind of failed logins, but removes no session. */
  const kinds = new Map<string, Kind>();
  let sweep = everyEntry(kinds);

  /** The kind that holds a key, or would hold it. An entry of the common kind stays there until it is removed. */
  function findKind(key: string): string {
    if (kinds.get(COMMON)?.entries.has(key) === true) return COMMON;
    const kind = toKind(key);
    const own = kinds.size - Number(kinds.has(COMMON));
    return kinds.has(kind) || own < MAX_KINDS ? kind : COMMON;
  }

  /** Removes an entry. A kind without entries is removed too, so that it does not count towards the limit. */
  function drop(kind: string, key: string): void {
    const entries = kinds.get(kind)?.entries;
    entries?.delete(key);
    if (entries?.size === 0) kinds.delete(kind);
  }

  /**
   * Checks the next entries. The iterator of a `Map` also visits entries that are added later; at its end a new one
   * starts.
   */
  function sweepSome(now: number): void {
    for (let count = 0; count < SWEPT_PER_PUT; count += 1) {
      const step = sweep.next();
      if (step.done) {
        sweep = everyEntry(kinds);
        return;
      }
      const { kind, key, entry } = step.value;
      if (entry.expires <= now) drop(kind, key);
    }
  }

  /** Removes all expired entries of a kind, if there may be some, and returns whether it has space then. */
  function makeSpace(kind: Kind, now: number): boolean {
    if (kind.earliest > now) return false;
    kind.earliest = Number.POSITIVE_INFINITY;
    for (const [key, { expires }] of kind.entries) {
      if (expires <= now) kind.entries.delete(key);
      else kind.earliest = Math.min(kind.earliest, expires);
    }
    return kind.entries.size < maxEntries;
  }

  function find(key: string, now: number): StoredText | undefined {
    const kind = findKind(key);
    const entry = kinds.get(kind)?.entries.get(key);
    if (entry === undefined || entry.expires > now) return entry;
    drop(kind, key);
    return undefined;
  }

  function put(key: string, entry: StoredText, now: number): boolean {
    const name = findKind(key);
    const kind = kinds.get(name) ?? { entries: new Map<string, StoredText>(), earliest: Number.POSITIVE_INFINITY };
    const isFull = kind.entries.size >= maxEntries && !kind.entries.has(key);
    if (isFull && whenFull === "refuse" && !makeSpace(kind, now)) return false;
    kinds.set(name, kind);
    kind.entries.delete(key);
    kind.entries.set(key, entry);
    kind.earliest = Math.min(kind.earliest, entry.expires);
    sweepSome(now);
    for (const oldest of kind.entries.keys()) {
      if (kind.entries.size <= maxEntries) break;
      kind.entries.delete(oldest);
    }
    return true;
  }

  return { find, put, delete: (key) => drop(findKind(key), key) };
}

function* everyEntry(kinds: ReadonlyMap<string, Kind>) {
  for (const [kind, { entries }] of kinds) for (const [key, entry] of entries) yield { kind, key, entry };
}

/** The kind of a key, with its colon; {@link COMMON} for a key without one. */
function toKind(key: string): string {
  return key.slice(0, key.indexOf(":") + 1);
}
