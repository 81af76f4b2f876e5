import { type FileHandle, open } from "node:fs/promises";
import { z } from "zod";
import type { Authenticator } from "../contracts/authenticator.ts";
import type { Logger } from "../contracts/logger.ts";
import { type AccountBook, createAccountsJudge, describeIssue, parseAccounts, warnOfPlainText } from "./accounts.ts";
import type { PasswordHasher } from "./password-hash.ts";
import { createNodePasswordHasher } from "./password-hash-node.ts";

/** Where the accounts are and what works on them. */
export interface AccountsFileOptions {
  /** Path of a JSON file `{ "accounts": [ { "username", "password", ...settings } ] }`. */
  readonly file: string;
  /** Verifies the PHC strings. Default: one of its own, off the main thread. */
  readonly passwordHasher?: PasswordHasher;
  /** Is told of plain-text passwords, of reloads and of broken versions. Default: the console. */
  readonly logger?: Logger;
  /** Milliseconds since any fixed moment. Default: `performance.now`. */
  readonly clock?: () => number;
}

const accountsFileSchema = z.strictObject({ accounts: z.array(z.unknown()) });
const checkEveryMilliseconds = 1000;

/**
 * The accounts of a JSON file, as a method of authentication that judges as `createAccountsAuthenticator` does.
 *
 * `start` reads the file and rejects with an error that names file, place and reason. Later versions are found when
 * credentials come, at most once a second; one that is missing or broken is reported once, and the accounts stay as
 * they were. Replace the file by renaming another onto it: so nobody reads a half-written one.
 */
export function createAccountsFileAuthenticator(options: AccountsFileOptions): Authenticator {
  const {
    file,
    passwordHasher = createNodePasswordHasher(),
    logger = console,
    clock = () => performance.now(),
  } = options;
  let book: AccountBook | undefined;
  let seenVersion: string | undefined;
  let checkedAt = 0;
  let checking: Promise<void> | undefined;

  /** Reads the file unless it is the version seen last. Content and version come from one handle, so they belong together. */
  async function check(): Promise<void> {
    checkedAt = clock();
    const handle = await open(file);
    try {
      const version = await readVersion(handle);
      if (version === seenVersion) return;
      seenVersion = version;
      book = parseAccountsFile(await handle.readFile(), passwordHasher);
      logger?.info({ file, accounts: book.byName.size }, "Accounts were read.");
      warnOfPlainText(book, logger);
    } finally {
      await handle.close();
    }
  }

  /** A version that is not there has the name of its error: reported once, and never taken for the one before. */
  async function checkForChange(): Promise<void> {
    const before = seenVersion;
    try {
      await check();
    } catch (error) {
      if (isSystemError(error)) seenVersion = error.code;
      if (seenVersion !== before)
        logger?.error({ file, error }, "The accounts file is broken; the former accounts stay.");
    }
  }

  async function start(): Promise<void> {
    seenVersion = undefined;
    try {
      await check();
    } catch (error) {
      seenVersion = undefined;
      throw new Error(`${file}: ${(error as Error).message}`);
    }
  }

  /** What was read last; looks for a later version when it is time, for all callers together. */
  async function current(): Promise<AccountBook> {
    if (book === undefined || clock() - checkedAt >= checkEveryMilliseconds) {
      checking ??= (book === undefined ? start() : checkForChange()).finally(() => {
        checking = undefined;
      });
    }
    await checking;
    if (book === undefined) throw new Error(`${file}: was not read`);
    return book;
  }

  return { name: "accounts", start, authenticate: createAccountsJudge(current) };
}

async function readVersion(handle: FileHandle): Promise<string> {
  const { ino, size, mtimeNs, ctimeNs } = await handle.stat({ bigint: true });
  return [ino, size, mtimeNs, ctimeNs].join(" ");
}

function parseAccountsFile(content: Uint8Array, passwordHasher: PasswordHasher): AccountBook {
  const parsed = accountsFileSchema.safeParse(parseJson(content));
  if (!parsed.success) throw new TypeError(describeIssue(parsed.error, ""));
  return parseAccounts(parsed.data.accounts, passwordHasher);
}

/** The engine's message quotes the text around the fault, which may be a password: only the position is passed on. */
function parseJson(content: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(content));
  } catch (error) {
    const position = / position \d+/.exec((error as Error).message)?.[0];
    throw new TypeError(position === undefined ? "is not valid JSON in UTF-8" : `is not valid JSON at${position}`);
  }
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "code" in error;
}
