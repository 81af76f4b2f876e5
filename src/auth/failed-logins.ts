import * as z from "zod";
import type { KeyValueStore } from "../contracts/key-value-store.ts";
import { orRetryError } from "../http/errors.ts";
import { createKeyedMutex } from "../platform/keyed-mutex.ts";

/** The failed logins in a store, by key. Every method rejects with HttpError `unavailable` when the store fails. */
export interface FailedLogins {
  /** Returns the times of a key's failures within the window, in milliseconds, the oldest first. */
  read(key: string): Promise<readonly number[]>;
  /** Adds a failure now, and keeps the last `most`. One after the other within this process. */
  add(key: string, most: number): Promise<void>;
  /** Removes the failures of a key. */
  clear(key: string): Promise<void>;
}

/** Options of {@link createFailedLogins}. */
export interface FailedLoginsOptions {
  readonly store: KeyValueStore;
  /** How long a failure counts, in milliseconds. */
  readonly window: number;
  /** Returns milliseconds since the epoch. */
  readonly clock: () => number;
}

const NONE: readonly number[] = [];
const timesSchema = z.array(z.number());

/** Creates the failed logins of a store. */
export function createFailedLogins({ store, window, clock }: FailedLoginsOptions): FailedLogins {
  const withLock = createKeyedMutex();

  function read(key: string): Promise<readonly number[]> {
    return mapStoreErrors(async () => {
      const stored = await store.get(key);
      return stored === undefined ? NONE : toRecent(stored);
    });
  }

  function toRecent(stored: unknown): readonly number[] {
    const since = clock() - window;
    return (timesSchema.safeParse(stored).data ?? NONE).filter((time) => time > since);
  }

  function write(key: string, change: () => Promise<void>): Promise<void> {
    return mapStoreErrors(() => withLock(key, change));
  }

  return {
    read,
    add: (key, most) =>
      write(key, async () => {
        const times = [...toRecent(await store.get(key)), clock()];
        await store.set(key, times.slice(-most), window);
      }),
    clear: (key) =>
      write(key, async () => {
        await store.delete(key);
      }),
  };
}

/** Runs work on the store of failed logins. */
function mapStoreErrors<T>(work: () => Promise<T>): Promise<T> {
  return orRetryError("login-store-unavailable", work);
}
