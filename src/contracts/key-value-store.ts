/**
 * A store of sessions, or of failed logins (`limits.loginStore`). It is the part of Keyv's interface that the service
 * uses, so any Keyv instance is one. Values are JSON values.
 *
 * Any method may reject; the response to the request is then 503. If several calls set one key, the last one to finish
 * wins. A `get` that starts after a `set` has resolved sees its value, as far as the underlying store promises this.
 */
export interface KeyValueStore {
  /** Returns the value, or `undefined` if there is none or if it has expired. */
  get(key: string): Promise<unknown>;
  /** Stores a value for `ttlMilliseconds` from now, and replaces an existing one. */
  set(key: string, value: unknown, ttlMilliseconds: number): Promise<unknown>;
  /** Deletes a key. A missing key is not an error. */
  delete(key: string): Promise<unknown>;
}
