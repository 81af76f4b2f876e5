import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import * as z from "zod";
import { parseJsonText } from "../../platform/json-text.ts";
import type { PasswordHasher } from "../passwords/hash.ts";
import { type AccountSet, isAccountMember, parseAccounts } from "./accounts.ts";
import { describeIssue } from "./accounts-error.ts";

/**
 * Without `O_NONBLOCK`, opening a pipe at this path would block until another process writes to it, and would also
 * block the exit of this process. Windows does not have the flag.
 */
const READ_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** An account as an accounts file has it. */
export type StoredEntry = Readonly<Record<string, unknown>> & { readonly username: string };

/** Returns the accounts that a file is to have. Its errors are passed on. */
export type EditAccounts = (accounts: readonly StoredEntry[]) => readonly StoredEntry[];

const accountsFileSchema = z.strictObject(
  { accounts: z.array(z.unknown()) },
  { error: ({ code }) => (code === "invalid_type" ? 'must be an object with the key "accounts"' : undefined) },
);

/** Whether an error is one of the operating system, with a code such as `ENOENT`. */
export function isSystemError(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && "code" in error && typeof error.code === "string";
}

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
  return parseStoredAccounts(parseJson(content), passwordHasher);
}

/**
 * Parses the value of an accounts file. It ignores members whose names begin with `x-`, in the file and in accounts.
 * Throws as {@link parseAccountsFile}.
 */
export function parseStoredAccounts(value: unknown, passwordHasher: PasswordHasher): AccountSet {
  const parsed = accountsFileSchema.safeParse(withoutExtensions(value));
  if (!parsed.success) throw new TypeError(describeIssue(parsed.error));
  return parseAccounts(parsed.data.accounts.map(withoutExtensions), passwordHasher);
}

/** Any other unknown member stays an error: it may be a known one that is misspelt. */
function withoutExtensions(value: unknown): unknown {
  return pickMembers(value, (name) => !isExtension(name));
}

function isExtension(name: string): boolean {
  return name.startsWith("x-");
}

/** Returns an object with some of its members, and any other value as it is. */
function pickMembers(value: unknown, isWanted: (name: string) => boolean): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => isWanted(name)));
}

/**
 * Returns the places of members that the service does not know, such as `accounts[0].note`, of an accounts file that is
 * valid without them. It looks for them in the file and in accounts. Throws as {@link parseAccountsFile} if other
 * members are not valid.
 */
export function findUnknownMembers(content: Uint8Array, passwordHasher: PasswordHasher): readonly string[] {
  const value = parseJson(content);
  const unknown: string[] = [];
  const pickKnown = (from: unknown, place: string, isKnown: (name: string) => boolean): unknown =>
    pickMembers(from, (name) => {
      if (isKnown(name)) return true;
      if (!isExtension(name)) unknown.push(`${place}${name}`);
      return false;
    });
  const file = pickKnown(value, "", (name) => Object.hasOwn(accountsFileSchema.shape, name));
  const { data } = accountsFileSchema.safeParse(file);
  const accounts = data?.accounts.map((one, index) => pickKnown(one, `accounts[${index}].`, isAccountMember));
  try {
    parseStoredAccounts(accounts === undefined ? file : { accounts }, passwordHasher);
  } catch (error) {
    // What is missing may be there, misspelt.
    throw unknown.length === 0 ? error : new TypeError(`${(error as Error).message}; ${describeUnknown(unknown)}`);
  }
  return unknown;
}

/** Names the first of some members that the service does not know, and the number of the others. */
export function describeUnknown([first, ...others]: readonly string[]): string {
  return `${first}: unknown key${others.length > 0 ? `, and ${others.length} more` : ""}`;
}

/** Returns an account without members that the service does not know. Those that begin with `x-` stay. */
export function withoutUnknown(account: StoredEntry): StoredEntry {
  return pickMembers(account, (name) => isAccountMember(name) || isExtension(name)) as StoredEntry;
}

/** Returns an account with another value of a member, or without it. Its other members keep their order. */
export function withMember(account: StoredEntry, name: string, value: unknown): StoredEntry {
  if (value !== undefined) return { ...account, [name]: value };
  return pickMembers(account, (one) => one !== name) as StoredEntry;
}

/** Returns the accounts of a valid accounts file as it has them. */
export function toStoredEntries(content: Uint8Array): readonly StoredEntry[] {
  return (JSON.parse(new TextDecoder().decode(content)) as { readonly accounts: readonly StoredEntry[] }).accounts;
}

/** Returns the text of a valid accounts file with another password, as {@link withAccounts} does. */
export function withPassword(content: Uint8Array, username: string, password: string): string {
  return withAccounts(content, (accounts) =>
    accounts.map((account) => (account.username === username ? { ...account, password } : account)),
  );
}

/** Returns the text of a valid accounts file with other accounts. It keeps the order of members and the indentation. */
export function withAccounts(content: Uint8Array, edit: EditAccounts): string {
  const text = new TextDecoder().decode(content);
  const parsed: { accounts: StoredEntry[] } = JSON.parse(text);
  const accounts = edit(parsed.accounts);
  const indentation = /^[^\S\n]+/m.exec(text)?.[0] ?? "";
  return `${JSON.stringify({ ...parsed, accounts }, null, indentation)}\n`;
}

/** Throws `TypeError` with the position, which never quotes the text: that may be a password. */
function parseJson(content: Uint8Array): unknown {
  try {
    return parseJsonText(content);
  } catch (error) {
    throw new TypeError((error as Error).message);
  }
}
