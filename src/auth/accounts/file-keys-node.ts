import type { AccountKeys, ApiKey } from "../../contracts/api-keys.ts";
import { findKey } from "./accounts.ts";
import type { CurrentAccounts } from "./current-accounts-node.ts";
import { editAccountsFile } from "./edit-file-node.ts";
import { type StoredEntry, withMember } from "./file-content-node.ts";

/** What the keys of an accounts file need of the method that reads it. */
export interface FileKeysOptions {
  /** The path of the file. */
  readonly file: string;
  readonly accounts: Pick<CurrentAccounts, "find" | "checkNow">;
  /** Runs a change of the file while no other one runs. */
  readonly withUpdateLock: <T>(work: () => Promise<T>) => Promise<T>;
}

/** Creates the API keys of the accounts of a file, which are in the member `keys` of an account. */
export function createFileKeys({ file, accounts, withUpdateLock }: FileKeysOptions): Required<AccountKeys> {
  /** Changes the keys of an account. Returns whether the account is there, and its keys have changed. */
  async function changeKeys(username: string, change: ChangeKeys): Promise<boolean> {
    let isChanged = false;
    await editAccountsFile(file, (entries) => {
      isChanged = false;
      return entries.map((account) => {
        const changed = account.username === username ? withChangedKeys(account, change) : account;
        isChanged ||= changed !== account;
        return changed;
      });
    });
    await accounts.checkNow();
    return isChanged;
  }

  return {
    find: (id) => accounts.find((known) => findKey(id, known)),
    list: (username) => accounts.find((known) => known.byName.get(username)?.keys),
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
  const { keys = [] } = account as { readonly keys?: readonly ApiKey[] };
  const changed = change(keys);
  if (changed === keys) return account;
  return withMember(account, "keys", changed.length > 0 ? changed : undefined);
}
