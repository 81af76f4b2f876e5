import type { KeyValueStore } from "../contracts/key-value-store.ts";
import type { Logger } from "../contracts/logger.ts";

/** How a Keyv instance is used. */
export interface KeyvOptions {
  /** Is told of the first failure in a row. */
  readonly logger: Logger;
  /** A call that takes longer has failed, as with a store whose connection is gone and that waits for another. Default: 5000. */
  readonly timeoutMilliseconds?: number;
}

/** One instance may be the store of several things, and of several services: it is listened to once. */
const adopted = new WeakMap<object, KeyValueStore>();

/** What a Keyv instance has beyond the contract, of every version that has it. */
interface KeyvLike extends KeyValueStore {
  throwOnErrors: boolean;
  /** The adapter, which may hide failures of its own. */
  readonly store?: unknown;
  on?(event: "error", listener: (error: unknown) => void): unknown;
}

/**
 * A store that keeps the contract, from what an integrator hands over. A Keyv instance by itself answers `undefined` when its storage fails, as if nothing was
 * there: sessions would be over and failed logins uncounted. So its `throwOnErrors`, and its adapter's, are switched on, times to live are
 * whole milliseconds, as Redis wants them, and a call ends within its time. Values are JSON text, which no serializer or compression of a Keyv changes. Other stores are passed as they are.
 */
export function adoptKeyv(store: KeyValueStore, options: KeyvOptions): KeyValueStore {
  if (!isKeyv(store)) return store;
  const known = adopted.get(store);
  if (known !== undefined) return known;
  const { logger, timeoutMilliseconds = 5000 } = options;
  let isFailing = false;
  store.throwOnErrors = true;
  if (throwsOnErrors(store.store)) store.store.throwOnErrors = true;
  // Without a listener an event of this name ends the process (Keyv before 5).
  store.on?.("error", onError);

  function onError(error: unknown): void {
    if (!isFailing) logger.error({ error }, "The session store failed.");
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

/** Rejects where work takes longer; what becomes of it then is nobody's. */
export function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = () => reject(new Error(`The store did not respond within ${milliseconds} ms.`));
    const timer = setTimeout(late, milliseconds);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
