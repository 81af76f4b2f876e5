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
import {
  type AccountSet,
  createAccountsVerifier,
  createTimingEqualizer,
  findAccount,
  toVersion,
  warnOfPlainText,
} from "./accounts.ts";
import {
  isSystemError,
  openAccountsFile,
  parseAccountsFile,
  readFileContent,
  readFileState,
  readRegularFile,
  withPassword,
} from "./file-content-node.ts";
import { createFileKeys } from "./file-keys-node.ts";
import { removeRecoveryCode } from "./file-totp-node.ts";
import { removeLeftoverLock, withLockedFile } from "./lock-file-node.ts";
import { removeLeftovers, replaceFile } from "./replace-file-node.ts";

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

/** Requests with a session check the file at most this often. */
const sessionRecheckMilliseconds = 1000;

/** A request with a session waits at most this long for a check. */
const maxSessionWaitMilliseconds = 500;

/** A login waits longer: it must notice a password that another process has changed. */
const maxLoginWaitMilliseconds = 5000;

/** A check in progress. */
interface RunningCheck {
  readonly done: Promise<void>;
  /** Resolves when the check is done, or after `maxSessionWaitMilliseconds`. Never rejects. */
  readonly doneOrTimeout: Promise<void>;
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
  let accounts: AccountSet | undefined;
  let seenState: string | undefined;
  let checkedAt = 0;
  let runningCheck: RunningCheck | undefined;
  const withLock = createKeyedMutex();

  /**
   * Reads the file if its state has changed. State and content come from one handle, so they belong to the same
   * version.
   */
  async function readIfChanged(): Promise<void> {
    checkedAt = clock();
    const handle = await openAccountsFile(file);
    try {
      const state = await readFileState(handle);
      if (state === seenState) return;
      seenState = state;
      accounts = parseAccountsFile(await readFileContent(handle), passwordHasher);
      logger.info({ file, accounts: accounts.byName.size }, "The accounts file was read.");
      warnOfPlainText(accounts, logger);
    } finally {
      await handle.close();
    }
  }

  /**
   * Reads the file if it has changed, and logs a failure once. If the file cannot be opened, the code of the error
   * becomes its state, so the file is read again when it is back.
   */
  async function checkForChange(): Promise<void> {
    const before = seenState;
    try {
      await readIfChanged();
    } catch (error) {
      if (isSystemError(error)) seenState = error.code;
      if (seenState !== before)
        logger.error({ file, error }, "The accounts file is invalid; the previous accounts stay in use.");
    }
  }

  async function start(): Promise<void> {
    seenState = undefined;
    await removeLeftovers(file);
    await removeLeftoverLock(file);
    try {
      await readIfChanged();
    } catch (error) {
      seenState = undefined;
      throw new Error(`${file}: ${(error as Error).message}`);
    }
  }

  /** Starts a check, or returns the running one: concurrent callers share one check. */
  function startCheck(): RunningCheck {
    if (runningCheck !== undefined) return runningCheck;
    const done = withLock("read", accounts === undefined ? start : checkForChange).finally(() => {
      runningCheck = undefined;
    });
    runningCheck = { done, doneOrTimeout: waitAtMost(done, maxSessionWaitMilliseconds) };
    return runningCheck;
  }

  /** Returns the current accounts. Checks the file first if the last check is too old. */
  async function readAccounts(): Promise<AccountSet> {
    if (accounts === undefined) await startCheck().done;
    // No shared check here: one that started before this call may miss a later change of the file.
    else if (recheckMilliseconds === 0) await waitAtMost(withLock("read", checkForChange), maxLoginWaitMilliseconds);
    else {
      if (clock() - checkedAt >= recheckMilliseconds) startCheck();
      if (runningCheck !== undefined) await waitAtMost(runningCheck.done, maxLoginWaitMilliseconds);
    }
    if (accounts === undefined) throw new Error(`${file}: could not be read`);
    return accounts;
  }

  /**
   * Returns true on the result of a check within the last second, or of an older one if the file system is slow. Before
   * it returns false, it checks the file again.
   */
  async function isCurrent(username: string, version: string): Promise<boolean> {
    const isKnown = () => accounts?.byName.get(username)?.isCurrent(version) === true;
    await checkNowAndThen();
    if (isKnown()) return true;
    await withLock("read", checkForChange);
    return isKnown();
  }

  async function lookup(username: string): Promise<AccountLookup> {
    const found = await findOrCheck((known) => known.byName.has(username) && findAccount(username, known));
    return found || { outcome: "unknown" };
  }

  /** Checks the file if the last check is too old for a request without credentials. */
  async function checkNowAndThen(): Promise<void> {
    if (accounts === undefined) await startCheck().done;
    else if (clock() - checkedAt >= Math.max(recheckMilliseconds, sessionRecheckMilliseconds)) {
      await startCheck().doneOrTimeout;
    }
  }

  /** Trusts a check as `isCurrent` does, and checks the file again before a key or an account is unknown. */
  async function findOrCheck<T>(find: (known: AccountSet) => T): Promise<T> {
    await checkNowAndThen();
    const found = accounts && find(accounts);
    if (found) return found;
    await withLock("read", checkForChange);
    if (accounts === undefined) throw new Error(`${file}: could not be read`);
    return find(accounts);
  }

  const withUpdateLock = <T>(work: () => Promise<T>): Promise<T> => withLock("update", () => withFileLock(work));

  async function canUpdatePassword(username: string): Promise<PasswordUpdatability> {
    return (await readAccounts()).byName.has(username) ? "updatable" : "unknown";
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
      await update.beforeChange?.(toVersion(account.settings, password, account.totp));
      await replaceFile(file, withPassword(content, username, password));
      return true;
    });
    // If the file has changed meanwhile, starts over, so that the rewrite does not undo the other change.
    if (!isReplaced) return updatePassword(update);
    // The lock puts this after any check that still reads the previous file: from now on only the new password is
    // accepted.
    await withLock("read", checkForChange);
    return { outcome: "updated" };
  }

  async function useRecoveryCode(username: string, sha256: string): Promise<boolean> {
    const isRemoved = await withUpdateLock(() => removeRecoveryCode(file, username, sha256));
    await withLock("read", checkForChange);
    return isRemoved;
  }

  return {
    name: "accounts",
    start: () => withLock("read", start),
    authenticate: createAccountsVerifier(readAccounts, useRecoveryCode),
    equalizeTiming: createTimingEqualizer(readAccounts),
    isCurrent,
    lookup,
    keys: createFileKeys({
      file,
      find: findOrCheck,
      withUpdateLock,
      read: () => withLock("read", checkForChange),
    }),
    canUpdatePassword,
    updatePassword: (update) => withUpdateLock(() => updatePassword(update)),
  };
}

/** Resolves when the work is settled, or after some milliseconds. Never rejects. */
async function waitAtMost(work: Promise<unknown>, milliseconds: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise((resolve) => {
    timer = setTimeout(resolve, milliseconds).unref();
  });
  await Promise.race([work.catch(() => undefined), timeout]);
  clearTimeout(timer);
}
