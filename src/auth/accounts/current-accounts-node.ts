import type { Logger } from "../../contracts/logger.ts";
import { createKeyedMutex } from "../../platform/keyed-mutex.ts";
import type { PasswordHasher } from "../passwords/hash.ts";
import { type AccountSet, warnOfPlainText } from "./accounts.ts";
import {
  isSystemError,
  openAccountsFile,
  parseAccountsFile,
  readFileContent,
  readFileState,
} from "./file-content-node.ts";
import { removeLeftoverLock } from "./lock-file-node.ts";
import { removeLeftovers } from "./replace-file-node.ts";

/** Options of {@link createCurrentAccounts}. */
export interface CurrentAccountsOptions {
  readonly file: string;
  readonly passwordHasher: PasswordHasher;
  readonly logger: Logger;
  /** The shortest time between two checks whether the file has changed; 0: every login checks. */
  readonly recheckMilliseconds: number;
  /** Returns milliseconds since any fixed moment. */
  readonly clock: () => number;
  /** Gets the accounts each time that they were read. */
  readonly onRead?: ((accounts: AccountSet) => void) | undefined;
}

/** The accounts that a file has now. The previous ones stay while the file is missing or invalid. */
export interface CurrentAccounts {
  /** Removes what a killed process has left, and reads the file. @throws an error with the file and the reason */
  start(): Promise<void>;
  /** Returns the accounts for a login. Checks the file first if the last check is too old. */
  read(): Promise<AccountSet>;
  /**
   * Finds something in the accounts for a request without credentials, on the result of a check within the last second,
   * or of an older one if the file system is slow. Before it returns `false` or `undefined`, it checks the file again.
   */
  find<T>(search: (accounts: AccountSet) => T): Promise<T>;
  /** Checks the file after any check in progress. */
  checkNow(): Promise<void>;
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

/** Creates the current accounts of a file. */
export function createCurrentAccounts(options: CurrentAccountsOptions): CurrentAccounts {
  const { file, passwordHasher, logger, recheckMilliseconds, clock, onRead } = options;
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
      onRead?.(accounts);
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
      if (seenState === before) return;
      const what = isSystemError(error) ? "cannot be read" : "is invalid";
      logger.error({ file, reason: toReason(error) }, `The accounts file ${what}; the previous accounts stay in use.`);
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
      throw new Error(`${file}: ${toReason(error)}`);
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

  const checkNow = (): Promise<void> => withLock("read", checkForChange);

  async function read(): Promise<AccountSet> {
    if (accounts === undefined) await startCheck().done;
    // No shared check here: one that started before this call may miss a later change of the file.
    else if (recheckMilliseconds === 0) await waitAtMost(checkNow(), maxLoginWaitMilliseconds);
    else {
      if (clock() - checkedAt >= recheckMilliseconds) startCheck();
      if (runningCheck !== undefined) await waitAtMost(runningCheck.done, maxLoginWaitMilliseconds);
    }
    if (accounts === undefined) throw new Error(`${file}: could not be read`);
    return accounts;
  }

  /** Checks the file if the last check is too old for a request without credentials. */
  async function checkNowAndThen(): Promise<void> {
    if (accounts === undefined) await startCheck().done;
    else if (clock() - checkedAt >= Math.max(recheckMilliseconds, sessionRecheckMilliseconds)) {
      await startCheck().doneOrTimeout;
    }
  }

  async function find<T>(search: (accounts: AccountSet) => T): Promise<T> {
    await checkNowAndThen();
    const found = accounts && search(accounts);
    if (found) return found;
    await checkNow();
    if (accounts === undefined) throw new Error(`${file}: could not be read`);
    return search(accounts);
  }

  return { start: () => withLock("read", start), read, find, checkNow };
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

/** Why the file could not be read. The error of the system repeats the path. */
function toReason(error: unknown): string {
  const isMissing = isSystemError(error) && error.code === "ENOENT";
  return isMissing ? "does not exist" : (error as Error).message;
}
