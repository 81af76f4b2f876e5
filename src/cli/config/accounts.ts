import { readFile } from "node:fs/promises";
import { type Groups, toAccount } from "../../account/account.ts";
import { parseStoredAccounts } from "../../auth/accounts/file-content-node.ts";
import { createPasswordHasher } from "../../auth/passwords/hash.ts";
import type { AccountSettings } from "../../contracts/account.ts";
import { parseJsonText } from "../../platform/json-text.ts";

/**
 * Reads and checks an accounts file; returns the accounts by name, in their order. Rejects as `readFile` and
 * `parseStoredAccounts` do.
 */
export async function readAccountsFile(path: string): Promise<ReadonlyMap<string, AccountSettings>> {
  const { byName } = parseStoredAccounts(parseJsonText(await readFile(path)), createPasswordHasher());
  return new Map([...byName].map(([username, { settings }]) => [username, settings]));
}

/** Why an account could never log in: the path of the member and the reason. `undefined` if it can. */
export function findAccountProblem(
  username: string,
  settings: AccountSettings,
  groups: Groups,
): { readonly path: readonly (string | number)[]; readonly reason: string } | undefined {
  try {
    toAccount(username, settings, groups);
    return undefined;
  } catch (error) {
    const { message } = error as Error;
    const [, member, index, reason = message] = /^(\w+)(?:\[(\d+)\])?: (.*)$/s.exec(message) ?? [];
    if (member === undefined) return { path: [], reason };
    return { path: index === undefined ? [member] : [member, Number(index)], reason };
  }
}
