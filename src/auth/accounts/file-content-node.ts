import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import * as z from "zod";
import { decodeUtf8 } from "../../platform/utf8.ts";
import type { PasswordHasher } from "../passwords/hash.ts";
import { type AccountSet, describeIssue, parseAccounts } from "./accounts.ts";

/**
 * Without `O_NONBLOCK`, opening a pipe at this path would block until another process writes to it, and would also
 * block the exit of this process. Windows does not have the flag.
 */
const READ_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

const accountsFileSchema = z.strictObject({ accounts: z.array(z.unknown()) });

/** Opens an accounts file for reading. Throws the error of the system. */
export function openAccountsFile(file: string): Promise<FileHandle> {
  return open(file, READ_FLAGS);
}

/** Returns a text that changes with every version of the open file. */
export async function readFileState(handle: FileHandle): Promise<string> {
  const { ino, size, mtimeNs, ctimeNs } = await handle.stat({ bigint: true });
  return [ino, size, mtimeNs, ctimeNs].join(" ");
}

/** Opens a file and reads it completely. Throws as {@link openAccountsFile} and {@link readFileContent}. */
export async function readRegularFile(file: string): Promise<Buffer> {
  const handle = await openAccountsFile(file);
  try {
    return await readFileContent(handle);
  } finally {
    await handle.close();
  }
}

/** Reads an open file from its start. Throws `TypeError` if it is not a regular file, such as a pipe. */
export async function readFileContent(handle: FileHandle): Promise<Buffer> {
  if (!(await handle.stat()).isFile()) throw new TypeError("is not a regular file");
  return handle.readFile();
}

/**
 * Parses the content of an accounts file. Throws `TypeError` if it is no list of accounts, and as
 * {@link parseAccounts}.
 */
export function parseAccountsFile(content: Uint8Array, passwordHasher: PasswordHasher): AccountSet {
  const parsed = accountsFileSchema.safeParse(parseJson(content));
  if (!parsed.success) throw new TypeError(describeIssue(parsed.error));
  return parseAccounts(parsed.data.accounts, passwordHasher);
}

/** Returns the text of a valid accounts file with another password. It keeps the order of keys and the indentation. */
export function withPassword(content: Uint8Array, username: string, password: string): string {
  const text = new TextDecoder().decode(content);
  const parsed: { accounts: { username: string; password: string }[] } = JSON.parse(text);
  const accounts = parsed.accounts.map((account) =>
    account.username === username ? { ...account, password } : account,
  );
  const indentation = /^[^\S\n]+/m.exec(text)?.[0] ?? "";
  return `${JSON.stringify({ ...parsed, accounts }, null, indentation)}\n`;
}

/**
 * The engine's error message may quote a password, as it quotes text around the error. Only the position is passed on.
 */
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
