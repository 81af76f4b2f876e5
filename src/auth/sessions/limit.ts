import * as z from "zod";
import type { KeyValueStore } from "../../contracts/key-value-store.ts";
import { createKeyedMutex } from "../../platform/keyed-mutex.ts";
import { toStoreKey } from "../store.ts";
import type { OnSession, TimedSession } from "./types.ts";

/**
 * Limits the number of sessions of an account. If logins in several processes happen at the same moment, the store may
 * keep only one of them in its list, and the sessions of the others are not counted.
 */
export interface SessionLimit {
  /**
   * Registers a new session by its key in the store. If the account has too many sessions then, ends those that were
   * unused for the longest time and calls `onEnded` for each.
   */
  register(username: string, key: string, onEnded?: OnSession): Promise<void>;
}

/** Options of {@link createSessionLimit}. */
export interface SessionLimitOptions {
  readonly store: KeyValueStore;
  /** How many sessions an account may have; 0 for no limit. */
  readonly maxPerAccount: number;
  /** The longest time that a session can be in the store, in milliseconds. */
  readonly lifetime: number;
  /** Returns those of an account's sessions that are neither ended nor expired, in the order of `keys`. */
  readonly findLive: (username: string, keys: readonly string[]) => Promise<readonly LiveSession[]>;
  /** Ends a session and returns its record; `undefined` if the session has ended already. */
  readonly end: (key: string) => Promise<TimedSession | undefined>;
}

/** A session that is neither ended nor expired. */
export interface LiveSession {
  readonly key: string;
  /** When its last use was written, in milliseconds since the epoch. */
  readonly seen: number;
}

/** The keys of an account's sessions in the order of their logins. Ended sessions stay in the list until it is full. */
const listSchema = z.array(z.string());

/** Creates the session limit of a service. */
export function createSessionLimit(options: SessionLimitOptions): SessionLimit {
  const { store, maxPerAccount, lifetime, findLive, end } = options;
  const withLock = createKeyedMutex();

  async function add(listKey: string, username: string, key: string, onEnded?: OnSession): Promise<void> {
    const known = listSchema.safeParse(await store.get(listKey)).data ?? [];
    const others = known.length < maxPerAccount ? known : await makeRoom(username, known, onEnded);
    await store.set(listKey, [...others, key], lifetime);
  }

  /** Ends sessions until there is room for one more, and returns the keys of those that stay. */
  async function makeRoom(username: string, known: readonly string[], onEnded?: OnSession): Promise<readonly string[]> {
    const live = await findLive(username, known);
    const surplus = live
      .toSorted((one, other) => one.seen - other.seen)
      .slice(0, Math.max(0, live.length + 1 - maxPerAccount));
    for (const { key } of surplus) {
      const ended = await end(key);
      if (ended !== undefined) onEnded?.(ended);
    }
    return live.filter((each) => !surplus.includes(each)).map(({ key }) => key);
  }

  return {
    async register(username, key, onEnded) {
      if (maxPerAccount === 0) return;
      const listKey = toStoreKey("sessions-of", username);
      await withLock(listKey, () => add(listKey, username, key, onEnded));
    },
  };
}
