import { readFile } from "node:fs/promises";
import { type Groups, toAccount } from "../../account/account.ts";
import type { AccountSet } from "../../auth/accounts/accounts.ts";
import { parseStoredAccounts } from "../../auth/accounts/file-content-node.ts";
import { createPasswordHasher } from "../../auth/passwords/hash.ts";
import type { AccountSettings } from "../../contracts/account.ts";
import type { Logger } from "../../contracts/logger.ts";
import { parseJsonText } from "../../platform/json-text.ts";
import { toKeyPath } from "./issues.ts";

/**
 * Reads and checks an accounts file; returns the accounts by name, in their order. Rejects as `readFile` and
 * `parseStoredAccounts` do.
 */
export async function readAccountsFile(path: string): Promise<ReadonlyMap<string, AccountSettings>> {
  return toSettingsByName(parseStoredAccounts(parseJsonText(await readFile(path)), createPasswordHasher()));
}

/** The settings of accounts by their names, in their order. */
export function toSettingsByName({ byName }: Pick<AccountSet, "byName">): ReadonlyMap<string, AccountSettings> {
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

/** The accounts of an accounts file that could never log in: where the reason is in the file, and the reason. */
export function findUnusableAccounts(
  accounts: ReadonlyMap<string, AccountSettings>,
  groups: Groups,
): readonly { readonly username: string; readonly problem: string }[] {
  return [...accounts].flatMap(([username, settings], index) => {
    const { path, reason } = findAccountProblem(username, settings, groups) ?? {};
    if (path === undefined) return [];
    const shown = path[0] === "group" ? `${settings.group} ${reason}` : reason;
    return [{ username, problem: `${toKeyPath(["accounts", index, ...path])}: ${shown}` }];
  });
}

/** How many problems a line of the log has. */
const MAX_LOGGED = 100;

/** Logs which accounts of an accounts file could never log in. The others can. */
export function logUnusableAccounts(
  file: string,
  accounts: ReadonlyMap<string, AccountSettings>,
  groups: Groups,
  logger: Logger,
): void {
  const problems = findUnusableAccounts(accounts, groups).map(({ problem }) => problem);
  if (problems.length === 0) return;
  const more = problems.length - MAX_LOGGED;
  const logged = [...problems.slice(0, MAX_LOGGED), ...(more > 0 ? [`and ${more} more`] : [])];
  logger.error({ file, problems: logged }, "Accounts of the accounts file cannot log in.");
}
