/**
 * Where sessions live: the part of Keyv's interface that we use, so any Keyv instance is one. Values are JSON values.
 *
 * Any method may reject; the request at hand is then answered 503. Of several setters of one key the last to
 * finish wins; a `get` that starts after a `set` resolved sees it, as far as the store behind it promises.
 */
export interface KeyValueStore {
  /** The value, or `undefined` when there is none or its time is over. */
  get(key: string): Promise<unknown>;
  /** Keeps a value for `ttlMilliseconds` from now, in place of the former one. */
  set(key: string, value: unknown, ttlMilliseconds: number): Promise<unknown>;
  /** Forgets a key; one that is not there is no failure. */
  delete(key: string): Promise<unknown>;
}
