import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { z } from "zod";
import type {
  Authenticator,
  PasswordUpdatability,
  PasswordUpdate,
  PasswordUpdateOutcome,
} from "../../contracts/authenticator.ts";
import type { Logger } from "../../contracts/logger.ts";
import { checkOption } from "../../contracts/option-error.ts";
import { createKeyedMutex } from "../../platform/keyed-mutex.ts";
import { decodeUtf8 } from "../../platform/utf8.ts";
import type { PasswordHasher } from "../passwords/hash.ts";
import { createNodePasswordHasher } from "../passwords/hash-node.ts";
import {
  type AccountBook,
  createAccountsVerifier,
  createTimingEqualizer,
  describeIssue,
  parseAccounts,
  toVersion,
  warnOfPlainText,
} from "./accounts.ts";
import { replaceFile, sweepLeftovers } from "./replace-file-node.ts";

/** Where the accounts are and what works on them. */
export interface AccountsFileOptions {
  /** Path of a JSON file `{ "accounts": [ { "username", "password", ...settings } ] }`. */
  readonly file: string;
  /** Verifies and makes the PHC strings. Default: one of its own, off the main thread. */
  readonly passwordHasher?: PasswordHasher;
  /** Is told of plain-text passwords, of reloads and of broken versions. Default: the console. */
  readonly logger?: Logger;
  /** How often the file is checked for a later version, in seconds; 0 for at every login, if other processes write it. Default: 1. */
  readonly recheckSeconds?: number;
  /** Runs work while no other process rewrites the file, where several do. Default: this process knows of itself alone. */
  readonly withFileLock?: <T>(work: () => Promise<T>) => Promise<T>;
  /** Milliseconds since any fixed moment. Default: `performance.now`. */
  readonly clock?: () => number;
}

/** A session's request does not wait for the file system more often. */
const sessionRecheckMilliseconds = 1000;

/** A session's request does not wait for the file system longer. */
const momentMilliseconds = 500;

/** A login, which has to know of a password that another process has changed, does. */
const patienceMilliseconds = 5000;

/** A look for a later version of the file. */
interface Look {
  readonly done: Promise<void>;
  /** The same, or a moment, whatever is over first. It never rejects. */
  readonly moment: Promise<void>;
}

/** A pipe in the file's place would hold whoever opens it, and with it the end of the process. Windows has no such flag. */
const READING = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

const accountsFileSchema = z.strictObject({ accounts: z.array(z.unknown()) });

/**
 * The accounts of a JSON file, as a method of authentication that judges as `createAccountsAuthenticator` does.
 *
 * `start` removes what a killed process has left of a rewrite, reads the file and rejects with an error that names file, place and reason. Later versions are found when
 * credentials come, by default at most once a second; one that is missing or broken is reported once, and the accounts stay as
 * they were. Replace the file by renaming another onto it: so nobody reads a half-written one. The sessions of an account that is removed, or
 * changed in any member, end with their next request, at most a second later; of a plain-text password a change does not count.
 *
 * A change of password rewrites the file in that way, with a PHC string in place of the password and all else as it was but for blanks
 * and line ends. Of two processes that rewrite it within the same milliseconds the later one wins, unless `withFileLock` keeps them apart; one process alone never loses a change.
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
  checkOption(recheckSeconds >= 0, "recheckSeconds", "0 or more");
  const recheckMilliseconds = recheckSeconds * 1000;
  let book: AccountBook | undefined;
  let seenState: string | undefined;
  let checkedAt = 0;
  let looking: Look | undefined;
  const withLock = createKeyedMutex();

  /** Reads the file unless its state is the one seen last. Content and state come from one handle, so they belong together. */
  async function check(): Promise<void> {
    checkedAt = clock();
    const handle = await open(file, READING);
    try {
      const state = await readState(handle);
      if (state === seenState) return;
      seenState = state;
      book = parseAccountsFile(await readContent(handle), passwordHasher);
      logger.info({ file, accounts: book.byName.size }, "Accounts were read.");
      warnOfPlainText(book, logger);
    } finally {
      await handle.close();
    }
  }

  /** The state of a file that is not there is the name of the error: reported once, and never taken for the one before. */
  async function checkForChange(): Promise<void> {
    const before = seenState;
    try {
      await check();
    } catch (error) {
      if (isSystemError(error)) seenState = error.code;
      if (seenState !== before) logger.error({ file, error }, "The accounts file is broken; the former accounts stay.");
    }
  }

  async function start(): Promise<void> {
    seenState = undefined;
    await sweepLeftovers(file);
    try {
      await check();
    } catch (error) {
      seenState = undefined;
      throw new Error(`${file}: ${(error as Error).message}`);
    }
  }

  /** One look for all who ask meanwhile. */
  function look(): Look {
    if (looking !== undefined) return looking;
    const done = withLock("read", book === undefined ? start : checkForChange).finally(() => {
      looking = undefined;
    });
    looking = { done, moment: within(done, momentMilliseconds) };
    return looking;
  }

  /** What was read last; looks for a later version when it is time, for all callers together. */
  async function current(): Promise<AccountBook> {
    if (book === undefined) await look().done;
    // A look that began before the caller came may have missed what was written in between.
    else if (recheckMilliseconds === 0) await within(withLock("read", checkForChange), patienceMilliseconds);
    else {
      if (clock() - checkedAt >= recheckMilliseconds) look();
      if (looking !== undefined) await within(looking.done, patienceMilliseconds);
    }
    if (book === undefined) throw new Error(`${file}: was not read`);
    return book;
  }

  /**
   * A look of within the last second will do for a session that stands, and where the file system takes its time, the look before; a session that does not
   * stand is judged by a look of now.
   */
  async function isCurrent(username: string, version: string): Promise<boolean> {
    const isKnown = () => book?.byName.get(username)?.version === version;
    if (book === undefined) await look().done;
    else if (clock() - checkedAt >= Math.max(recheckMilliseconds, sessionRecheckMilliseconds)) await look().moment;
    if (isKnown()) return true;
    await withLock("read", checkForChange);
    return isKnown();
  }

  async function canUpdatePassword(username: string): Promise<PasswordUpdatability> {
    return (await current()).byName.has(username) ? "updatable" : "unknown";
  }

  /** Judges the current password by the very content that is rewritten. */
  async function updatePassword(update: PasswordUpdate): Promise<PasswordUpdateOutcome> {
    const { username, currentPassword, newPassword } = update;
    const content = await readAccountsFile(file);
    const account = parseAccountsFile(content, passwordHasher).byName.get(username);
    if (account === undefined) return { outcome: "unknown" };
    if (!(await account.matches(currentPassword))) return { outcome: "wrong-password" };
    const password = await passwordHasher.hash(newPassword);
    // Someone else's edit meanwhile is not undone but judged anew.
    if (!content.equals(await readAccountsFile(file))) return updatePassword(update);
    await update.beforeChange?.(toVersion(account.settings, password));
    await replaceFile(file, withPassword(content, username, password));
    // After whoever reads the former version: from now on the new password counts, and it alone.
    await withLock("read", checkForChange);
    return { outcome: "updated" };
  }

  return {
    name: "accounts",
    start: () => withLock("read", start),
    authenticate: createAccountsVerifier(current),
    equalizeTiming: createTimingEqualizer(current),
    isCurrent,
    canUpdatePassword,
    updatePassword: (update) => withLock("update", () => withFileLock(() => updatePassword(update))),
  };
}

/** The text of an accounts file that `parseAccountsFile` accepts, with another password in it: keys in their order, its indentation kept. */
function withPassword(content: Uint8Array, username: string, password: string): string {
  const text = new TextDecoder().decode(content);
  const parsed: { accounts: { username: string; password: string }[] } = JSON.parse(text);
  const accounts = parsed.accounts.map((account) =>
    account.username === username ? { ...account, password } : account,
  );
  const indentation = /^[^\S\n]+/m.exec(text)?.[0] ?? "";
  return `${JSON.stringify({ ...parsed, accounts }, null, indentation)}\n`;
}

/** What tells one state of the file from another. */
async function readState(handle: FileHandle): Promise<string> {
  const { ino, size, mtimeNs, ctimeNs } = await handle.stat({ bigint: true });
  return [ino, size, mtimeNs, ctimeNs].join(" ");
}

function parseAccountsFile(content: Uint8Array, passwordHasher: PasswordHasher): AccountBook {
  const parsed = accountsFileSchema.safeParse(parseJson(content));
  if (!parsed.success) throw new TypeError(describeIssue(parsed.error));
  return parseAccounts(parsed.data.accounts, passwordHasher);
}

/** The engine's message quotes the text around the fault, which may be a password: only the position is passed on. */
function parseJson(content: Uint8Array): unknown {
  const text = decodeUtf8(content, "remove");
  if (text === undefined) throw new TypeError("is not valid JSON in UTF-8");
  try {
    return JSON.parse(text);
  } catch (error) {
    const position = / position \d+/.exec((error as Error).message)?.[0];
    throw new TypeError(position === undefined ? "is not valid JSON in UTF-8" : `is not valid JSON at${position}`);
  }
}

async function readAccountsFile(file: string): Promise<Buffer> {
  const handle = await open(file, READING);
  try {
    return await readContent(handle);
  } finally {
    await handle.close();
  }
}

async function readContent(handle: FileHandle): Promise<Buffer> {
  if (!(await handle.stat()).isFile()) throw new TypeError("is not a regular file");
  return handle.readFile();
}

/** Resolves when the work is over, or so many milliseconds are. */
async function within(work: Promise<unknown>, milliseconds: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const pause = new Promise((resolve) => {
    timer = setTimeout(resolve, milliseconds).unref();
  });
  await Promise.race([work.catch(() => undefined), pause]);
  clearTimeout(timer);
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "code" in error;
}
