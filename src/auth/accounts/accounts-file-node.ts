import type {
  AccountLookup,
  Authenticator,
  PasswordUpdatability,
  PasswordUpdate,
  PasswordUpdateOutcome,
} from "../../contracts/authenticator.ts";
import type { Logger } from "../../contracts/logger.ts";
import { checkOption } from "../../contracts/option-error.ts";
import { createKeyedMutex } from "../../platform/keyed-mutex.ts";
import type { PasswordHasher } from "../passwords/hash.ts";
import { createNodePasswordHasher } from "../passwords/hash-node.ts";
import { type AccountSet, createAccountsVerifier, createTimingEqualizer, findAccount } from "./accounts.ts";
import { createCurrentAccounts } from "./current-accounts-node.ts";
import { parseAccountsFile, readRegularFile, withPassword } from "./file-content-node.ts";
import { createFileKeys } from "./file-keys-node.ts";
import { removeRecoveryCode } from "./file-totp-node.ts";
import { withLockedFile } from "./lock-file-node.ts";
import { replaceFile } from "./replace-file-node.ts";
import { toVersion } from "./settings-version.ts";

/** Options of {@link createAccountsFileAuthenticator}. */
export interface AccountsFileOptions {
  /** The path of a JSON file `{ "accounts": [ { "username", "password", ...settings } ] }`. */
  readonly file: string;
  /** Creates and verifies the PHC strings. Default: a new hasher that works off the main thread. */
  readonly passwordHasher?: PasswordHasher;
  /** Receives warnings about plain-text passwords, reloads, and errors in the file. Default: the console. */
  readonly logger?: Logger;
  /**
   * The shortest time between two checks whether the file has changed, in seconds. 0 checks at every login, for files
   * that other processes write. Default: 1.
   */
  readonly recheckSeconds?: number;
  /** Runs `work` while no other process rewrites the file. Default: runs it without such a lock. */
  readonly withFileLock?: <T>(work: () => Promise<T>) => Promise<T>;
  /** Returns milliseconds since any fixed moment. Default: `performance.now`. */
  readonly clock?: () => number;
}

/**
 * Creates an authentication method for the accounts of a JSON file. It verifies credentials like
 * `createAccountsAuthenticator`.
 *
 * `start` removes temporary files of a killed process and reads the file. It rejects with an error that names the file,
 * the member and the reason. When credentials arrive, by default at most once a second, the method checks whether the
 * file has changed. If the file is missing or invalid then, the method logs that once and keeps the accounts that it
 * has.
 *
 * Replace the file by renaming a new one onto it, so that the method never reads a half-written file. When an account
 * is removed or changed in any member, its sessions end with their next request, at most a second later; a change from
 * one plain-text password to another ends those that began in this process. `lookup` follows the file as sessions do,
 * but for passwords.
 *
 * A password change rewrites the file by such a rename. It puts a PHC string in place of the password, and changes
 * nothing else but white space and line ends. Processes that use this package lose no change of each other, as a lock
 * file lets one of them write at a time. A change by another program within the same milliseconds may be lost.
 */
export function createAccountsFileAuthenticator(options: AccountsFileOptions): Authenticator {
  return createWatchedAccountsFile(options);
}

/** Does the same for the command. `onRead` gets the accounts each time that they were read. */
export function createWatchedAccountsFile(
  options: AccountsFileOptions,
  onRead?: (accounts: AccountSet) => void,
): Authenticator {
  const {
    file,
    passwordHasher = createNodePasswordHasher(),
    logger = console,
    recheckSeconds = 1,
    withFileLock = (work) => work(),
    clock = () => performance.now(),
  } = options;
  checkOption(typeof recheckSeconds === "number" && recheckSeconds >= 0, "recheckSeconds", "a number, 0 or more");
  const recheckMilliseconds = recheckSeconds * 1000;
  const accounts = createCurrentAccounts({ file, passwordHasher, logger, recheckMilliseconds, clock, onRead });
  const updates = createKeyedMutex();
  const withUpdateLock = <T>(work: () => Promise<T>): Promise<T> => updates(file, () => withFileLock(work));

  async function isCurrent(username: string, version: string): Promise<boolean> {
    return accounts.find((known) => known.byName.get(username)?.isCurrent(version) === true);
  }

  async function lookup(username: string): Promise<AccountLookup> {
    const found = await accounts.find((known) => known.byName.has(username) && findAccount(username, known));
    return found || { outcome: "unknown" };
  }

  async function canUpdatePassword(username: string): Promise<PasswordUpdatability> {
    return (await accounts.read()).byName.has(username) ? "updatable" : "unknown";
  }

  /** Verifies the current password against the same content that it rewrites. */
  async function updatePassword(update: PasswordUpdate): Promise<PasswordUpdateOutcome> {
    const { username, currentPassword, newPassword, peer } = update;
    const content = await readRegularFile(file);
    const account = parseAccountsFile(content, passwordHasher).byName.get(username);
    if (account === undefined) return { outcome: "unknown" };
    if (!(await account.matches(currentPassword, peer?.address))) return { outcome: "wrong-password" };
    const password = await passwordHasher.hash(newPassword, peer?.address);
    const isReplaced = await withLockedFile(file, async () => {
      if (!content.equals(await readRegularFile(file))) return false;
      // A session of an account that has changed since the last check has ended. It must not get the new version.
      await accounts.checkNow();
      await update.beforeChange?.(toVersion(account.settings, password, account.totp));
      await replaceFile(file, withPassword(content, username, password));
      return true;
    });
    // If the file has changed meanwhile, starts over, so that the rewrite does not undo the other change.
    if (!isReplaced) return updatePassword(update);
    // Comes after any check that still reads the previous file: from now on only the new password is accepted.
    await accounts.checkNow();
    return { outcome: "updated" };
  }

  async function useRecoveryCode(username: string, sha256: string): Promise<boolean> {
    const isRemoved = await withUpdateLock(() => removeRecoveryCode(file, username, sha256));
    await accounts.checkNow();
    return isRemoved;
  }

  return {
    name: "accounts",
    start: accounts.start,
    authenticate: createAccountsVerifier(accounts.read, useRecoveryCode),
    equalizeTiming: createTimingEqualizer(accounts.read),
    isCurrent,
    lookup,
    keys: createFileKeys({ file, accounts, withUpdateLock }),
    canUpdatePassword,
    updatePassword: (update) => withUpdateLock(() => updatePassword(update)),
  };
}
