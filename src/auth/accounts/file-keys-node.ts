import type { AccountKeys, ApiKey } from "../../contracts/api-keys.ts";
import { type AccountSet, findKey } from "./accounts.ts";
import { editAccountsFile } from "./edit-file-node.ts";
import type { StoredEntry } from "./file-content-node.ts";

/** What the keys of an accounts file need of the method that reads it. */
export interface FileKeysOptions {
  /** The path of the file. */
  readonly file: string;
  /** Returns what is found among the accounts. Before it returns nothing, it reads the file again if it has changed. */
  readonly find: <T>(search: (known: AccountSet) => T) => Promise<T>;
  /** Runs a change of the file while no other one runs. */
  readonly withUpdateLock: <T>(work: () => Promise<T>) => Promise<T>;
  /** Reads the file again after a change. */
  readonly read: () => Promise<void>;
}

/** Creates the API keys of the accounts of a file, which are in the member `keys` of an account. */
export function createFileKeys({ file, find, withUpdateLock, read }: FileKeysOptions): Required<AccountKeys> {
  /** Changes the keys of an account. Returns whether the account is there, and its keys have changed. */
  async function changeKeys(username: string, change: ChangeKeys): Promise<boolean> {
    let isChanged = false;
    await editAccountsFile(file, (accounts) => {
      isChanged = false;
      return accounts.map((account) => {
        const changed = account.username === username ? withChangedKeys(account, change) : account;
        isChanged ||= changed !== account;
        return changed;
      });
    });
    await read();
    return isChanged;
  }

  return {
    find: (id) => find((known) => findKey(id, known)),
    list: (username) => find((known) => known.byName.get(username)?.keys),
    add: (username, key) => withUpdateLock(() => changeKeys(username, (keys) => [...keys, key])),
    remove: (username, id) =>
      withUpdateLock(() =>
        changeKeys(username, (keys) => {
          const others = keys.filter((key) => key.id !== id);
          return others.length === keys.length ? keys : others;
        }),
      ),
  };
}

/** Returns the keys that an account is to have; the same list if nothing changes. */
export type ChangeKeys = (keys: readonly ApiKey[]) => readonly ApiKey[];

/** Returns an account of a valid file with other keys. Without keys it has no member for them. */
export function withChangedKeys(account: StoredEntry, change: ChangeKeys): StoredEntry {
  const { username, keys: given = [], ...members } = account;
  const keys = given as readonly ApiKey[];
  const changed = change(keys);
  if (changed === keys) return account;
  return { username, ...members, ...(changed.length > 0 && { keys: changed }) };
}
