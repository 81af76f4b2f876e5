import { type CreatedApiKey, createApiKey, type NewApiKey } from "../../../src/auth/keys/create-api-key.ts";
import type { AccountSettings } from "../../../src/contracts/account.ts";
import type { AccountKeys, ApiKey } from "../../../src/contracts/api-keys.ts";

/** API keys in memory, as an application may keep them. */
export interface MemoryKeys extends Required<AccountKeys> {
  /** Makes a key of an account, and returns what a client sends. */
  make(username: string, wanted?: NewApiKey): CreatedApiKey;
  /** What accounts are now; one that is removed may not log in. */
  readonly accounts: Map<string, AccountSettings>;
}

/** Creates the keys of accounts. Times are those of `clock`, in milliseconds. */
export function createMemoryKeys(
  accounts: Readonly<Record<string, AccountSettings>>,
  clock: () => number = Date.now,
): MemoryKeys {
  const settingsOf = new Map(Object.entries(accounts));
  const kept = new Map<string, readonly ApiKey[]>(Object.keys(accounts).map((name) => [name, []]));

  return {
    accounts: settingsOf,
    make(username, wanted = {}) {
      const made = createApiKey(wanted, clock());
      kept.set(username, [...(kept.get(username) ?? []), made.key]);
      return made;
    },
    async find(id) {
      for (const [username, keys] of kept) {
        const key = keys.find((one) => one.id === id);
        const account = settingsOf.get(username);
        if (key !== undefined && account !== undefined) return { username, account, key };
      }
      return undefined;
    },
    list: async (username) => kept.get(username),
    async add(username, key) {
      const keys = kept.get(username);
      if (keys !== undefined) kept.set(username, [...keys, key]);
      return keys !== undefined;
    },
    async remove(username, id) {
      const keys = kept.get(username) ?? [];
      kept.set(
        username,
        keys.filter((key) => key.id !== id),
      );
      return keys.some((key) => key.id === id);
    },
  };
}
