import { type AtomicKeyValueStore, updateText } from "../../contracts/atomic-store.ts";
import { createError } from "../../http/errors.ts";
import { createRequestMutex } from "../../platform/keyed-mutex.ts";
import { sha256Hex } from "../../platform/sha256.ts";
import { mapLockStoreErrors } from "./lock-records.ts";

/** How many locks each account has. */
export interface LockCounts {
  /** Counts a lock, or its new end. @throws HttpError `no-space` if the account has too many. */
  put(account: string, token: string, ends: number): Promise<void>;
  /** Stops counting locks. */
  remove(account: string, tokens: ReadonlySet<string>): Promise<void>;
}

/** The locks of an account by token, with their ends. */
type Entries = readonly (readonly [token: string, ends: number])[];

/** Creates the counts of locks in a store: one record for each account. */
export function createLockCounts(store: AtomicKeyValueStore, clock: () => number, max: number): LockCounts {
  const withKeyLock = createRequestMutex();

  async function put(account: string, token: string, ends: number): Promise<void> {
    await change(account, (entries) => {
      const next = [...entries.filter(([known]) => known !== token), [token, ends] as const];
      if (next.length > max) throw createError("too-many-locks", { values: { max } });
      return next;
    });
  }

  async function remove(account: string, tokens: ReadonlySet<string>): Promise<void> {
    await change(account, (entries) => entries.filter(([token]) => !tokens.has(token)));
  }

  async function change(account: string, next: (entries: Entries) => Entries): Promise<void> {
    const now = clock();
    const key = `lock-account:${sha256Hex(account)}`;
    let ttl = 1;
    const update = (): Promise<unknown> =>
      updateText(
        store,
        key,
        () => ttl,
        (current) => {
          const known: Entries = current === undefined ? [] : JSON.parse(current);
          const entries = next(known.filter(([, ends]) => ends > now));
          ttl = Math.max(1, ...entries.map(([, ends]) => ends - now));
          return entries.length === 0 ? undefined : JSON.stringify(entries);
        },
      );
    await mapLockStoreErrors(() => withKeyLock(key, update));
  }

  return { put, remove };
}
