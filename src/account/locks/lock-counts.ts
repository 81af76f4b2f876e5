import { foldName } from "../../contracts/account-name.ts";
import { type AtomicKeyValueStore, updateText } from "../../contracts/atomic-store.ts";
import { createError } from "../../http/errors.ts";
import { createRequestMutex } from "../../platform/keyed-mutex.ts";
import { sha256Hex } from "../../platform/sha256.ts";
import type { RootedLock } from "./lock.ts";
import { mapLockStoreErrors } from "./lock-records.ts";

/** How many locks each account has, and how much space they take in the store. */
export interface LockCounts {
  /** Counts a lock, or its new end. @throws HttpError `no-space` if the account has too many, or too large ones. */
  put(lock: RootedLock): Promise<void>;
  /** Stops counting locks. */
  remove(account: string, tokens: ReadonlySet<string>): Promise<void>;
}

/** The locks of an account by token, with their ends and sizes. */
type Entries = readonly (readonly [token: string, ends: number, size: number])[];

/**
 * How large the locks of an account may be together, for each lock that it may have. Attacks: every change in a folder
 * reads the owners of all locks in it, and a lock deep in a tree has a record in the store for each folder around it.
 */
const SIZE_PER_LOCK = 1024;
/** Room for one lock of any size, for services with few locks for each account. */
const LEAST_SIZE = 16_384;
/** The size that a lock has in the record of each folder around it. */
const SIZE_PER_LEVEL = 64;

/** Creates the counts of locks in a store: one record for each account, whatever the spelling of its name. */
export function createLockCounts(store: AtomicKeyValueStore, clock: () => number, max: number): LockCounts {
  const withKeyLock = createRequestMutex();

  const maxSize = LEAST_SIZE + max * SIZE_PER_LOCK;

  async function put({ account, token, ends, owner, root }: RootedLock): Promise<void> {
    const size = owner.length + root.length * SIZE_PER_LEVEL;
    await change(account, (entries) => {
      const next = [...entries.filter(([known]) => known !== token), [token, ends, size] as const];
      if (next.length > max) throw createError("too-many-locks", { values: { max } });
      if (next.reduce((sum, [, , one]) => sum + one, 0) > maxSize) throw createError("locks-too-large");
      return next;
    });
  }

  async function remove(account: string, tokens: ReadonlySet<string>): Promise<void> {
    await change(account, (entries) => entries.filter(([token]) => !tokens.has(token)));
  }

  async function change(account: string, next: (entries: Entries) => Entries): Promise<void> {
    const now = clock();
    const key = `lock-account:${sha256Hex(foldName(account))}`;
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
