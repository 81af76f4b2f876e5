import { createRequestMutex } from "../platform/keyed-mutex.ts";
import { wait } from "../platform/wait.ts";
import type { KeyValueStore } from "./key-value-store.ts";
import { checkOption } from "./option-error.ts";

/**
 * A store that can also replace a text in one step that is atomic among all processes. Locks, quotas and uses of links
 * need it: of two calls of `set`, the later one silently wins.
 *
 * `replace` and the other methods share their keys. `get` returns the text that `replace` stored, and `delete` removes
 * it. A text that `set` stored can be expected. Any other value that `set` stored is never equal to a text, so
 * `replace` returns false until it expires or is deleted. `set` and `delete` do not compare anything: do not mix them
 * with a `replace` of the same key at the same time.
 */
export interface AtomicKeyValueStore extends KeyValueStore {
  /**
   * Replaces `expected` by `next` as one step among all processes on the store. Returns true if it did so, and false if
   * something else is there. Both are texts, compared as a whole; `undefined` means nothing. A `next` of `undefined`
   * deletes the key. An expired entry counts as nothing. The time to live starts again with each replacement.
   *
   * Rejects as `set` does, and then the replacement may have happened. Rejects with a `StorageError` of the code
   * `no-space` if the store knows that it is full. A store never evicts what `replace` stored.
   */
  replace(
    key: string,
    expected: string | undefined,
    next: string | undefined,
    ttlMilliseconds: number,
  ): Promise<boolean>;
}

/** Whether a store has the atomic step. */
export function isAtomicStore(store: KeyValueStore): store is AtomicKeyValueStore {
  return "replace" in store && typeof store.replace === "function";
}

const ATOMIC =
  "a store with `replace`, as those of fileferry/stores/sqlite, fileferry/stores/redis and fileferry/stores/durable-object";

/** Checks an option that is a store with the atomic step, or left out. @throws OptionError */
export function checkAtomicStore(store: KeyValueStore | undefined, option: string): void {
  const isObject = typeof store === "object" && store !== null;
  checkOption(store === undefined || (isObject && isAtomicStore(store)), option, ATOMIC);
}

/** The number of times that {@link updateText} tries. Some 50 concurrent callers all succeed well within it. */
const MAX_ATTEMPTS = 50;
const MAX_DELAY_MILLISECONDS = 100;

/**
 * Changes the text of a key, and returns the new one. `change` gets the current text and returns the next one;
 * `undefined` means nothing, for both. If another caller changes the key meanwhile, `change` is called again with the
 * text of that caller, so it must have no other effects. If it throws, nothing changes. The time to live may depend on
 * what was returned last.
 *
 * Rejects as the store does, and then the change may have happened; also if the key changes during every attempt, or if
 * its value is not a text.
 */
export async function updateText(
  store: AtomicKeyValueStore,
  key: string,
  ttlMilliseconds: number | (() => number),
  change: (current: string | undefined) => string | undefined | Promise<string | undefined>,
): Promise<string | undefined> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const current = await store.get(key);
    if (current !== undefined && typeof current !== "string") throw new TypeError("The stored value is not a text.");
    const next = await change(current);
    if (next === undefined && current === undefined) return undefined;
    const ttl = typeof ttlMilliseconds === "number" ? ttlMilliseconds : ttlMilliseconds();
    if (await store.replace(key, current, next, ttl)) return next;
    await wait(Math.random() * Math.min(2 ** attempt, MAX_DELAY_MILLISECONDS));
  }
  throw new Error(`The stored text changed during each of ${MAX_ATTEMPTS} attempts.`);
}

/**
 * Changes the text of a key as {@link updateText} does, in a store of any kind: in one step among all processes if it
 * is atomic, else in this process.
 */
export type UpdateStoredText = (
  key: string,
  toTtlMilliseconds: () => number,
  change: (current: string | undefined) => string | undefined,
) => Promise<string | undefined>;

/** Creates the changes of texts in a store. */
export function createTextUpdates(store: KeyValueStore): UpdateStoredText {
  const withLock = createRequestMutex();

  async function replaceText(...[key, toTtl, change]: Parameters<UpdateStoredText>): Promise<string | undefined> {
    const stored = await store.get(key);
    const current = typeof stored === "string" ? stored : undefined;
    const next = change(current);
    if (next !== undefined) await store.set(key, next, toTtl());
    else if (current !== undefined) await store.delete(key);
    return next;
  }

  // One after the other for an atomic store too: many requests of this process would make each other's attempts fail.
  return (key, ...change) =>
    withLock(key, () => (isAtomicStore(store) ? updateText(store, key, ...change) : replaceText(key, ...change)));
}
