import type { KeyValueStore } from "../contracts/key-value-store.ts";
import type { Logger } from "../contracts/logger.ts";
import { within } from "./within.ts";

/** Options of {@link adoptKeyv}. */
export interface KeyvOptions {
  /** Gets the first failure in a row. */
  readonly logger: Logger;
  /** What the instance is in messages for the operator. Default: `session store`. */
  readonly name?: string;
  /** A call that takes longer fails: a store without a connection may wait for a new one. Default: 5000. */
  readonly timeoutMilliseconds?: number;
}

/** Instances that have an error listener: one instance may store several things, for several services. */
const adopted = new WeakMap<object, KeyValueStore>();

/** The members of a Keyv instance beyond the contract, in all versions with `throwOnErrors`. */
interface KeyvLike extends KeyValueStore {
  throwOnErrors: boolean;
  /** The adapter, which may hide failures too. */
  readonly store?: unknown;
  on?(event: "error", listener: (error: unknown) => void): unknown;
}

/**
 * Makes a Keyv instance keep the contract of a store; returns any other store unchanged.
 *
 * By default a Keyv instance returns `undefined` if its storage fails, as for a missing key: sessions would end, and
 * failed logins would not count. So this sets `throwOnErrors` of the instance and of its adapter, and limits the time
 * of each call. Times to live are rounded up to whole milliseconds, because Redis rejects fractions. Values are stored
 * as JSON text, which no serializer or compression of Keyv changes.
 */
export function adoptKeyv(store: KeyValueStore, options: KeyvOptions): KeyValueStore {
  if (!isKeyv(store)) return store;
  const known = adopted.get(store);
  if (known !== undefined) return known;
  const { logger, name = "session store", timeoutMilliseconds = 5000 } = options;
  let isFailing = false;
  store.throwOnErrors = true;
  if (throwsOnErrors(store.store)) store.store.throwOnErrors = true;
  // Without a listener an `error` event ends the process (Keyv before 5).
  store.on?.("error", onError);

  function onError(error: unknown): void {
    if (!isFailing) logger.error({ error }, `The ${name} failed.`);
    isFailing = true;
  }

  async function attempt<T>(work: Promise<T>): Promise<T> {
    try {
      const result = await within(timeoutMilliseconds, work);
      isFailing = false;
      return result;
    } catch (error) {
      onError(error);
      throw error;
    }
  }

  async function get(key: string): Promise<unknown> {
    const text = await attempt(store.get(key));
    return typeof text === "string" ? JSON.parse(text) : undefined;
  }

  async function set(key: string, value: unknown, ttlMilliseconds: number): Promise<unknown> {
    const json: string | undefined = JSON.stringify(value);
    if (json === undefined) throw new TypeError("The value is not a JSON value.");
    return attempt(store.set(key, json, Math.ceil(ttlMilliseconds)));
  }

  const own: KeyValueStore = { get, set, delete: (key) => attempt(store.delete(key)) };
  adopted.set(store, own);
  return own;
}

function isKeyv(store: KeyValueStore): store is KeyvLike {
  return throwsOnErrors(store);
}

function throwsOnErrors(value: unknown): value is { throwOnErrors: boolean } {
  return (
    typeof value === "object" && value !== null && "throwOnErrors" in value && typeof value.throwOnErrors === "boolean"
  );
}
