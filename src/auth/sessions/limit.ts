import { z } from "zod";
import type { KeyValueStore } from "../../contracts/key-value-store.ts";
import { createKeyedMutex } from "../../platform/keyed-mutex.ts";
import { toStoreKey } from "../store.ts";
import type { OnSession, TimedSession } from "./types.ts";

/** Keeps an account to a number of sessions. Of logins in several processes at the same moment the store may keep one: the others' sessions are not counted. */
export interface SessionLimit {
  /**
   * Notes a session that has begun, by its key in the store, and ends those that are too many: the ones that were not used for longest. `onEnded` is told of
   * each.
   */
  note(username: string, key: string, onEnded?: OnSession): Promise<void>;
}

/** What a limit is made of. */
export interface SessionLimitOptions {
  readonly store: KeyValueStore;
  /** 0: any number. */
  readonly maxPerAccount: number;
  /** Milliseconds for which a session may be in the store. */
  readonly lifetime: number;
  /** Those of an account's sessions that are neither ended nor over, in the same order. */
  readonly findLive: (username: string, keys: readonly string[]) => Promise<readonly LiveSession[]>;
  /** Ends a session; its record, unless somebody else has ended it. */
  readonly end: (key: string) => Promise<TimedSession | undefined>;
}

/** A session that may be used. */
export interface LiveSession {
  readonly key: string;
  /** POSIX milliseconds of its last use that was written. */
  readonly seen: number;
}

/** The sessions of an account by their keys, in the order of their logins; ended ones stay until there are too many. */
const listSchema = z.array(z.string());

/** Makes the limit of a service's sessions. */
export function createSessionLimit(options: SessionLimitOptions): SessionLimit {
  const { store, maxPerAccount, lifetime, findLive, end } = options;
  const withLock = createKeyedMutex();

  async function add(listKey: string, username: string, key: string, onEnded?: OnSession): Promise<void> {
    const known = listSchema.safeParse(await store.get(listKey)).data ?? [];
    const others = known.length < maxPerAccount ? known : await makeRoom(username, known, onEnded);
    await store.set(listKey, [...others, key], lifetime);
  }

  /** Ends what leaves no room for one more; the keys of those that stay. */
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
    async note(username, key, onEnded) {
      if (maxPerAccount === 0) return;
      const listKey = toStoreKey("sessions-of", username);
      await withLock(listKey, () => add(listKey, username, key, onEnded));
    },
  };
}
