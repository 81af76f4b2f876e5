import { type Account, DEFAULT_GROUP, type Groups, toAccount } from "../../account/account.ts";
import { toStoragePath } from "../../account/path.ts";
import { ANONYMOUS, toAnonymous } from "../../config/anonymous.ts";
import { type AccountSettings, OPERATIONS, type Operation } from "../../contracts/account.ts";
import { findAccountProblem, findUnusableAccounts, readAccountsFile } from "../config/accounts.ts";
import { toResolver } from "../config/read/config-file.ts";
import { type AuthenticationEntry, toGroupSettings } from "../config/schema.ts";
import { describeSystemError } from "../failure.ts";
import { type Finding, invalid, ok, warning } from "../findings.ts";
import { findMissingPackage } from "../optional-package.ts";
import type { Examined } from "./examined.ts";
import { hostsOf } from "./hosts.ts";

/** What changes nothing. */
const READING: readonly Operation[] = ["read", "list", "traverse"];
/** Stands for the user names that only another service knows. */
const ANY_NAME = "~";

/** The accounts of one entry of `authentication`, as far as the configuration knows them. */
type KnownAccounts = ReadonlyMap<string, AccountSettings>;

/** The home of an account, or of the accounts of a group that only another service knows. */
type Home = Pick<Account, "group" | "home"> & { readonly isOfGroup: boolean };

/**
 * Says which accounts a valid configuration has, and what requests without a login may do. Returns the homes of the
 * accounts, as segments below the root of the storage.
 */
export async function* describeAccounts({
  file,
  config,
}: Examined): AsyncGenerator<Finding, readonly (readonly string[])[]> {
  const groups = toGroupSettings(config.groups);
  const homes: Home[] = [...new Set([DEFAULT_GROUP, ...groups.keys()])].map((group) => ({
    ...toAccount(ANY_NAME, { group }, groups),
    isOfGroup: true,
  }));
  for (const [index, entry] of config.authentication.entries()) {
    const known = yield* describeEntry(`authentication[${index}]`, entry, toResolver(file), groups);
    for (const [name, settings] of known) {
      if (findAccountProblem(name, settings, groups) !== undefined) continue;
      homes.push({ ...toAccount(name, settings, groups), isOfGroup: false });
    }
  }
  if (groups.size > 0) yield ok("groups", [...groups.keys()].join(", "));
  const anonymous = toAnonymous(config.anonymous, groups);
  if (anonymous !== undefined) yield* describeAnonymous(toAccount(ANONYMOUS, anonymous, groups), homes);
  return homes.map(({ home }) => home);
}

/** Says what is wrong with the accounts of accounts files. */
export async function* examineAccounts({ file, config }: Examined): AsyncGenerator<Finding> {
  const groups = toGroupSettings(config.groups);
  for (const [index, entry] of config.authentication.entries()) {
    if (entry.type !== "accounts" || entry.file === undefined) continue;
    for await (const finding of describeAccountsFile(
      `authentication[${index}]`,
      toResolver(file)(entry.file),
      groups,
    )) {
      if (finding.level === "error") yield finding;
    }
  }
}

async function* describeEntry(
  key: string,
  entry: AuthenticationEntry,
  resolve: (path: string) => string,
  groups: Groups,
): AsyncGenerator<Finding, KnownAccounts> {
  if (entry.type === "http") yield ok(key, `http, ${hostsOf(entry.url)}`);
  else if (entry.type === "oidc") yield await describeProvider(key, entry.issuer);
  else if (entry.file !== undefined) return yield* describeAccountsFile(key, resolve(entry.file), groups);
  else {
    const { accounts = [] } = entry;
    yield ok(key, `${countAccounts(accounts.length)} of the configuration`);
    return new Map(accounts.map(({ username, password, ...settings }) => [username, settings]));
  }
  return new Map();
}

/** Says which provider a method has, or that its package is missing. Asks no other machine. */
export async function describeProvider(key: string, issuer: string): Promise<Finding> {
  const need = "OpenID Connect needs one more package: npm install openid-client@6";
  const missing = await findMissingPackage(() => import("openid-client"), need);
  return missing === undefined ? ok(key, `oidc, ${issuer}`) : invalid(key, missing);
}

async function* describeAccountsFile(
  key: string,
  path: string,
  groups: Groups,
): AsyncGenerator<Finding, KnownAccounts> {
  try {
    const accounts = await readAccountsFile(path);
    yield ok(key, `${countAccounts(accounts.size)} of ${path}`);
    for (const { username, problem } of findUnusableAccounts(accounts, groups)) {
      yield invalid(key, `${username} of ${path} cannot log in: ${problem}`);
    }
    return accounts;
  } catch (error) {
    yield invalid(`${key}.file`, `${path}: ${describeSystemError(error)}`);
    return new Map();
  }
}

/** Says what requests without a login may do, and where. `homes`: those of the other accounts. */
function* describeAnonymous(account: Account, homes: readonly Home[]): Generator<Finding> {
  const { home, group, virtualFolders, permissions } = account;
  const granted = OPERATIONS.filter((operation) => permissions.grantsSomewhere(operation));
  const paths = [home, ...virtualFolders.map(({ real }) => real)].map(toStoragePath).join(", ");
  const text = `${paths} without a login: ${granted.join(", ") || "nothing"}`;
  const mayOnlyRead = granted.every((operation) => READING.includes(operation));
  yield mayOnlyRead
    ? ok("anonymous", text)
    : warning("anonymous", text, "permit only allow-read and allow-list, unless everyone may change files");
  // The home of its own group may be the public folder itself.
  const others = homes.filter((other) => !(other.isOfGroup && other.group === group && isSame(other.home, home)));
  if (!others.some((other) => mayOpen(account, other.home))) return;
  const problem = "homes of other accounts can be opened without a login";
  yield warning("anonymous", problem, "choose folders in which no other account has its home");
}

/** Whether an account may list or read a folder that is one of its own, or in one of them. */
function mayOpen({ home, virtualFolders, permissions }: Account, other: readonly string[]): boolean {
  return [{ virtual: [], real: home }, ...virtualFolders].some(({ virtual, real }) => {
    const path = toStoragePath([...virtual, ...other.slice(real.length)]);
    return isInFolder(other, real) && READING.some((operation) => permissions.allows(path, operation));
  });
}

/** Whether a path is that of the folder, or of something in it. */
function isInFolder(path: readonly string[], folder: readonly string[]): boolean {
  return folder.every((segment, index) => segment === path[index]);
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && isInFolder(one, other);
}

function countAccounts(number: number): string {
  return `${number} account${number === 1 ? "" : "s"}`;
}
