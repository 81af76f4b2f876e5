import { z } from "zod";
import type { KeyValueStore } from "../contracts/key-value-store.ts";
import { toStoreKey } from "./store-access.ts";
import { createTurns } from "./turns.ts";

/** Keeps an account to a number of sessions. Of logins in several processes at the same moment the store may keep one: the others' sessions are not counted. */
export interface SessionLimit {
  /** Notes a session that has begun, by its key in the store, and ends those that are too many: the oldest ones. */
  note(username: string, key: string): Promise<void>;
}

/** What a limit is made of. */
export interface SessionLimitOptions {
  readonly store: KeyValueStore;
  /** 0: any number. */
  readonly maxPerAccount: number;
  /** Milliseconds for which a session may be in the store. */
  readonly lifetime: number;
  /** Those of the sessions that are neither ended nor over. */
  readonly findLive: (keys: readonly string[]) => Promise<readonly string[]>;
  readonly end: (key: string) => Promise<unknown>;
}

/** The sessions of an account by their keys, in the order of their logins; ended ones stay until there are too many. */
const listSchema = z.array(z.string());

/** Makes the limit of a service's sessions. */
export function createSessionLimit(options: SessionLimitOptions): SessionLimit {
  const { store, maxPerAccount, lifetime, findLive, end } = options;
  const inTurn = createTurns();

  async function add(listKey: string, key: string): Promise<void> {
    const known = listSchema.safeParse(await store.get(listKey)).data ?? [];
    const others = known.length < maxPerAccount ? known : await findLive(known);
    const surplus = others.slice(0, Math.max(0, others.length + 1 - maxPerAccount));
    for (const oldest of surplus) await end(oldest);
    await store.set(listKey, [...others.slice(surplus.length), key], lifetime);
  }

  return {
    async note(username, key) {
      if (maxPerAccount === 0) return;
      const listKey = toStoreKey("sessions-of", username);
      await inTurn(listKey, () => add(listKey, key));
    },
  };
}
