import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { z } from "zod";
import type { AccountSettings } from "../../contracts/account.ts";
import type { Authenticator, Credentials, Verdict } from "../../contracts/authenticator.ts";
import type { Logger } from "../../contracts/logger.ts";
import { sha256Hex } from "../../platform/sha256.ts";
import { accountSettingsSchema } from "../../schemas/account.ts";
import {
  createPasswordHasher,
  equalBytes,
  isPasswordHash,
  type PasswordHasher,
  parsePasswordHash,
} from "../passwords/hash.ts";

/** An account as it is configured: the members of its settings stand beside its name. */
export interface AccountEntry extends AccountSettings {
  readonly username: string;
  /** A PHC string of scrypt or argon2id; or, for trying out, the password itself. */
  readonly password: string;
}

/** What the authenticator knows and what it works with. */
export interface AccountsOptions {
  readonly accounts: readonly AccountEntry[];
  /**
   * Verifies the PHC strings. Default: one of its own that computes on the calling thread, and holds it for some 0.3 s a login; Node's
   * own, which does not, is `createNodePasswordHasher` of `fileferry/node`.
   */
  readonly passwordHasher?: PasswordHasher;
  /** Is told how many passwords are plain text. Default: the console. */
  readonly logger?: Logger;
}

/** One set of accounts, checked. A reload makes another. */
export interface AccountBook {
  readonly byName: ReadonlyMap<string, StoredAccount>;
  /** The same accounts, countable. */
  readonly all: readonly StoredAccount[];
  /** How many of the passwords are plain text. */
  readonly plainText: number;
}

interface StoredAccount {
  readonly settings: AccountSettings;
  /** See {@link toVersion}. */
  readonly version: string;
  matches(password: string): Promise<boolean>;
}

/** A list of accounts cannot be used. The message has the place and the reason, as in `accounts[1].password: must not be empty`. */
export class AccountsError extends TypeError {
  /** From the list to the wrong member, such as `[1, "password"]`. */
  readonly path: readonly PropertyKey[];
  /** Never quotes a value. */
  readonly reason: string;

  constructor(path: readonly PropertyKey[], reason: string) {
    super(`${toKeyPath("accounts", path)}: ${reason}`);
    this.name = "AccountsError";
    this.path = path;
    this.reason = reason;
  }
}

const accountEntriesSchema = z.array(
  accountSettingsSchema.extend({
    username: z
      .string()
      .min(1, "must not be empty")
      .refine((name) => new TextEncoder().encode(name).length <= 255, "must not be longer than 255 bytes")
      .refine((name) => !/\p{Cc}/u.test(name), "must not hold control characters"),
    password: z.string().min(1, "must not be empty"),
  }),
);

/**
 * The accounts given in code, as a method of authentication. A name it has not is `unknown`; a wrong password is
 * `rejected`. A client certificate, which the runtime has verified, needs no password; SSH keys it knows none. Passwords cannot be
 * changed: they stand in the code.
 *
 * Throws `AccountsError`, a `TypeError` naming the member that is unknown, missing or wrong, never its value.
 */
export function createAccountsAuthenticator(options: AccountsOptions): Authenticator {
  const { accounts, passwordHasher = createPasswordHasher(), logger = console } = options;
  const book = parseAccounts(accounts, passwordHasher);
  warnOfPlainText(book, logger);
  return {
    name: "accounts",
    authenticate: createAccountsVerifier(async () => book),
    equalizeTiming: createTimingEqualizer(async () => book),
    isCurrent: async (username, version) => book.byName.get(username)?.version === version,
    canUpdatePassword: async (username) => (book.byName.has(username) ? "not-updatable" : "unknown"),
  };
}

/**
 * Checks a list of accounts. Throws `AccountsError` that names the place, as in `accounts[1].password: ...`, and never
 * quotes what stands there.
 */
export function parseAccounts(accounts: unknown, passwordHasher: PasswordHasher): AccountBook {
  const parsed = accountEntriesSchema.safeParse(accounts);
  if (!parsed.success) {
    const { path, reason } = findIssue(parsed.error);
    throw new AccountsError(path, reason);
  }
  const byName = new Map<string, StoredAccount>();
  let plainText = 0;
  for (const [index, { username, password, ...settings }] of parsed.data.entries()) {
    if (byName.has(username)) throw new AccountsError([index, "username"], "is there already");
    if (!isPasswordHash(password)) plainText += 1;
    const matches = toMatcher(password, passwordHasher, [index, "password"]);
    byName.set(username, { settings, version: toVersion(settings, password), matches });
  }
  return { byName, all: [...byName.values()], plainText };
}

/**
 * Judges credentials by the accounts that `source` gives at that moment.
 *
 * An unknown name costs what a known one costs: it is verified against the secret of some account, always the same for one
 * name, and the result ignored. Which one is a secret of this process, else times could be compared across accounts.
 */
export function createAccountsVerifier(source: () => Promise<AccountBook>): Authenticator["authenticate"] {
  return async function authenticate({ type, username, content }: Credentials): Promise<Verdict> {
    if (type === "ssh-key") return { outcome: "unknown" };
    const book = await source();
    const account = book.byName.get(username);
    if (type === "ssl-certificate") {
      return account === undefined ? { outcome: "unknown" } : toAccepted(account);
    }
    const decoy = decoyFor(username, book);
    const matches = await (account ?? decoy)?.matches(content);
    if (account === undefined) return { outcome: "unknown" };
    return matches === true ? toAccepted(account) : { outcome: "rejected" };
  };
}

function toAccepted({ settings: account, version }: StoredAccount): Verdict {
  return { outcome: "accepted", account, version };
}

/**
 * Stands for an account as it is configured, with its password where that is a hash: whoever reads a store of sessions could guess a plain one by its digest.
 * The salt of a hash is not to be guessed.
 */
export function toVersion(settings: AccountSettings, password: string): string {
  return sha256Hex(JSON.stringify([settings, isPasswordHash(password) ? password : null]));
}

/** Does the work that the judge does on a password, and tells nothing. */
export function createTimingEqualizer(
  source: () => Promise<AccountBook>,
): NonNullable<Authenticator["equalizeTiming"]> {
  return async function equalizeTiming({ type, username, content }: Credentials): Promise<void> {
    if (type === "password") await decoyFor(username, await source())?.matches(content);
  };
}

function decoyFor(username: string, { all }: AccountBook): StoredAccount | undefined {
  const digest = keyedDigest(username);
  return all[new DataView(digest.buffer, digest.byteOffset).getUint32(0) % all.length];
}

/** Warns, once per call, when there are plain-text passwords: how many, never whose. */
export function warnOfPlainText({ plainText }: AccountBook, logger: Logger): void {
  if (plainText === 0) return;
  logger.warn({ count: plainText }, "Accounts have plain-text passwords, which are for trying out: hash them.");
}

/** The place and the reason of the first issue, as in `accounts[1].email: ...`, without the value. */
export function describeIssue(error: z.ZodError): string {
  const { path, reason } = findIssue(error);
  return path.length === 0 ? reason : `${toKeyPath("", path)}: ${reason}`;
}

function findIssue({ issues }: z.ZodError): Pick<AccountsError, "path" | "reason"> {
  const issue = issues[0];
  if (issue === undefined) return { path: [], reason: "is not valid" };
  const [unknownKey = ""] = issue.code === "unrecognized_keys" ? issue.keys : [];
  if (unknownKey !== "") return { path: [...issue.path, unknownKey], reason: "is not a known member" };
  return { path: issue.path, reason: issue.message };
}

function toKeyPath(root: string, path: readonly PropertyKey[]): string {
  return path.reduce<string>((keyPath, key) => {
    if (typeof key === "number") return `${keyPath}[${key}]`;
    return keyPath === "" ? String(key) : `${keyPath}.${String(key)}`;
  }, root);
}

function toMatcher(secret: string, hasher: PasswordHasher, path: readonly PropertyKey[]): StoredAccount["matches"] {
  if (!isPasswordHash(secret)) return toPlainTextMatcher(secret);
  try {
    parsePasswordHash(secret);
  } catch (error) {
    throw new AccountsError(path, (error as Error).message);
  }
  return (password) => hasher.verify(password, secret);
}

/** Digests have one length, and under a random key tell nothing by where they differ. */
function toPlainTextMatcher(secret: string): StoredAccount["matches"] {
  return async (password) => equalBytes(keyedDigest(password), keyedDigest(secret));
}

let processKey: Uint8Array | undefined;

/** The key is made at first use: workerd forbids random numbers while modules load. */
function keyedDigest(text: string): Uint8Array {
  processKey ??= crypto.getRandomValues(new Uint8Array(32));
  return hmac(sha256, processKey, new TextEncoder().encode(text));
}
