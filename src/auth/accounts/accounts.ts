import * as z from "zod";
import type { AccountSettings } from "../../contracts/account.ts";
import type { AccountKeys, ApiKey, FoundKey } from "../../contracts/api-keys.ts";
import type { AccountLookup, Authenticator, Credentials, Verdict } from "../../contracts/authenticator.ts";
import type { Logger } from "../../contracts/logger.ts";
import type { AccountTotp } from "../../contracts/sign-on/second-factor.ts";
import { createHmac } from "../../platform/hmac.ts";
import { accountSettingsSchema, freezeAccountSettings } from "../../schemas/account.ts";
import { apiKeySchema } from "../../schemas/api-keys.ts";
import { accountTotpSchema } from "../../schemas/totp.ts";
import { createPasswordHasher, isPasswordHash, type PasswordHasher, parsePasswordHash } from "../passwords/hash.ts";
import { AccountsError, findIssue } from "./accounts-error.ts";
import { createSettingsVersion, type SettingsVersion } from "./settings-version.ts";

/** An account as it is configured: its name, its password and the members of its settings. */
export interface AccountEntry extends AccountSettings {
  readonly username: string;
  /** A PHC string of scrypt or argon2id; for experiments also the password itself. */
  readonly password: string;
  /** The account may not log in: its sessions and its links do not work any more. Default: false. */
  readonly disabled?: boolean;
  /** API keys of the account. Default: none. */
  readonly keys?: readonly ApiKey[];
  /** Logins with the password need a one-time password too, and HTTP Basic takes only an API key. Default: none. */
  readonly totp?: AccountTotp;
}

/** Options of {@link createAccountsAuthenticator}. */
export interface AccountsOptions {
  readonly accounts: readonly AccountEntry[];
  /**
   * Verifies the PHC strings. Default: a hasher that computes on the calling thread, and blocks it for about 0.3 s per
   * login. On Node, `createNodePasswordHasher` of `fileferry/node` does not block.
   */
  readonly passwordHasher?: PasswordHasher;
  /** Receives a warning with the number of plain-text passwords. Default: the console. */
  readonly logger?: Logger;
}

/** One validated set of accounts. A reload creates a new set. */
export interface AccountSet {
  readonly byName: ReadonlyMap<string, StoredAccount>;
  /** All accounts, for access by index. */
  readonly all: readonly StoredAccount[];
  /** The keys of all accounts, by their IDs. */
  readonly byKey: ReadonlyMap<string, FoundKey>;
  /** How many of the passwords are plain text. */
  readonly plainTextCount: number;
}

interface StoredAccount extends SettingsVersion {
  readonly settings: AccountSettings;
  readonly keys: readonly ApiKey[];
  readonly isDisabled: boolean;
  readonly totp: AccountTotp | undefined;
  /** `address`: of the client, if it is known. */
  matches(password: string, address?: string): Promise<boolean>;
}

/** Only this process can compute these digests. */
const keyedDigest = createHmac();

const accountEntriesSchema = z.array(
  accountSettingsSchema.extend({
    username: z
      .string()
      .min(1, "must not be empty")
      .refine((name) => new TextEncoder().encode(name).length <= 255, "must not be longer than 255 bytes")
      .refine((name) => !/\p{Cc}/u.test(name), "must not contain control characters"),
    password: z.string().min(1, "must not be empty"),
    disabled: z.boolean().exactOptional(),
    keys: z.array(apiKeySchema).readonly().exactOptional(),
    totp: accountTotpSchema.exactOptional(),
  }),
);

/** Whether a member of an {@link AccountEntry} has this name. */
export function isAccountMember(name: string): boolean {
  return Object.hasOwn(accountEntriesSchema.element.shape, name);
}

/**
 * Creates an authentication method for accounts given in code. An unknown name is `unknown`, a wrong password is
 * `rejected`. A client certificate, which the runtime has verified, needs no password. SSH keys are `unknown`.
 * Passwords cannot be changed, because they are part of the code. `lookup` finds every account of the list.
 *
 * Throws `AccountsError`, a `TypeError` that names an unknown, missing or invalid member, but never its value.
 */
export function createAccountsAuthenticator(options: AccountsOptions): Authenticator {
  const { accounts, passwordHasher = createPasswordHasher(), logger = console } = options;
  const known = parseAccounts(accounts, passwordHasher);
  warnOfPlainText(known, logger);
  return {
    name: "accounts",
    authenticate: createAccountsVerifier(async () => known),
    equalizeTiming: createTimingEqualizer(async () => known),
    isCurrent: async (username, version) => known.byName.get(username)?.isCurrent(version) === true,
    lookup: async (username) => findAccount(username, known),
    ...(known.byKey.size > 0 && { keys: toFixedKeys(known) }),
    canUpdatePassword: async (username) => (known.byName.has(username) ? "not-updatable" : "unknown"),
  };
}

/**
 * Validates a list of accounts. Throws `AccountsError` that names the member, as in `accounts[1].password: ...`, and
 * never quotes its value.
 */
export function parseAccounts(accounts: unknown, passwordHasher: PasswordHasher): AccountSet {
  const parsed = accountEntriesSchema.safeParse(accounts);
  if (!parsed.success) {
    const { path, reason } = findIssue(parsed.error);
    throw new AccountsError(path, reason);
  }
  const byName = new Map<string, StoredAccount>();
  const byKey = new Map<string, FoundKey>();
  let plainTextCount = 0;
  for (const [index, entry] of parsed.data.entries()) {
    const { username, password, disabled: isDisabled = false, keys = [], totp, ...members } = entry;
    if (byName.has(username)) throw new AccountsError([index, "username"], "is already in use");
    if (!isPasswordHash(password)) plainTextCount += 1;
    const matches = toMatcher(password, passwordHasher, [index, "password"]);
    const settings = freezeAccountSettings(members);
    const version = createSettingsVersion({ username, settings, password, totp }, keyedDigest);
    const isCurrent = (text: string): boolean => !isDisabled && version.isCurrent(text);
    byName.set(username, { settings, keys, isDisabled, totp, matches, ...version, isCurrent });
    for (const [place, key] of keys.entries()) {
      if (byKey.has(key.id)) throw new AccountsError([index, "keys", place, "id"], "is already in use");
      byKey.set(key.id, { username, account: settings, key });
    }
  }
  return { byName, byKey, all: [...byName.values()], plainTextCount };
}

/**
 * Creates a function that verifies credentials against the accounts that `source` returns at that moment.
 *
 * A timing attack: an unknown name must take as long as a known one. So its password is verified against another
 * account, and the result is ignored. One name always uses the same account, and only this process can compute which
 * one: otherwise an attacker could compare times across accounts.
 *
 * `useRecoveryCode`: see `SecondFactor`.
 */
export function createAccountsVerifier(
  source: () => Promise<AccountSet>,
  useRecoveryCode?: (username: string, sha256: string) => Promise<boolean>,
): Authenticator["authenticate"] {
  return async function authenticate({ type, username, content, peer }: Credentials): Promise<Verdict> {
    if (type === "ssh-key") return { outcome: "unknown" };
    const accounts = await source();
    const account = accounts.byName.get(username);
    if (type === "ssl-certificate") {
      return account === undefined ? { outcome: "unknown" } : toVerdict(account, true);
    }
    const substitute = substituteFor(username, accounts);
    const matches = await (account ?? substitute)?.matches(content, peer?.address);
    if (account === undefined) return { outcome: "unknown" };
    const verdict = toVerdict(account, matches === true);
    if (account.totp === undefined || verdict.outcome !== "accepted") return verdict;
    const use = useRecoveryCode && ((sha256: string) => useRecoveryCode(username, sha256));
    const secondFactor = { totp: account.totp, ...(use && { useRecoveryCode: use }) };
    return { ...verdict, outcome: "second-factor", secondFactor };
  };
}

function toVerdict({ settings: account, isDisabled, version }: StoredAccount, matches: boolean): Verdict {
  return matches && !isDisabled ? { outcome: "accepted", account, version: version() } : { outcome: "rejected" };
}

/** Looks an account up by its name, as a login does, and returns its settings alone. */
export function findAccount(username: string, { byName }: Pick<AccountSet, "byName">): AccountLookup {
  const account = byName.get(username);
  if (account === undefined) return { outcome: "unknown" };
  if (account.isDisabled) return { outcome: "unknown", isTaken: true };
  return { outcome: "found", account: account.settings };
}

/** Without keys in the list there is nothing to find or to show. */
function toFixedKeys(known: AccountSet): AccountKeys {
  return { find: async (id) => findKey(id, known), list: async (username) => known.byName.get(username)?.keys };
}

/** Finds an API key of an account that may log in. */
export function findKey(id: string, { byKey, byName }: Pick<AccountSet, "byKey" | "byName">): FoundKey | undefined {
  const found = byKey.get(id);
  return found === undefined || byName.get(found.username)?.isDisabled === true ? undefined : found;
}

/** Creates a function that does the same work as verifying a password, without a result. */
export function createTimingEqualizer(source: () => Promise<AccountSet>): NonNullable<Authenticator["equalizeTiming"]> {
  return async function equalizeTiming({ type, username, content, peer }: Credentials): Promise<void> {
    if (type === "password") await substituteFor(username, await source())?.matches(content, peer?.address);
  };
}

function substituteFor(username: string, { all }: AccountSet): StoredAccount | undefined {
  return all[Number.parseInt(keyedDigest(username).slice(0, 8), 16) % all.length];
}

/** Logs a warning with the number of plain-text passwords, if there are any. It does not name the accounts. */
export function warnOfPlainText({ plainTextCount }: AccountSet, logger: Logger): void {
  if (plainTextCount === 0) return;
  logger.warn(
    { count: plainTextCount },
    "Accounts have plain-text passwords: replace them by hashes before production use.",
  );
}

function toMatcher(secret: string, hasher: PasswordHasher, path: readonly PropertyKey[]): StoredAccount["matches"] {
  if (!isPasswordHash(secret)) return toPlainTextMatcher(secret);
  try {
    parsePasswordHash(secret);
  } catch (error) {
    throw new AccountsError(path, (error as Error).message);
  }
  return (password, address) => hasher.verify(password, secret, address);
}

/** Compares keyed digests: they have equal lengths, and the position where they differ reveals nothing. */
function toPlainTextMatcher(secret: string): StoredAccount["matches"] {
  let digest: string | undefined;
  return async (password) => {
    digest ??= keyedDigest(secret);
    return keyedDigest(password) === digest;
  };
}
