import { editAccountsFile, readStoredEntries } from "../../auth/accounts/edit-file-node.ts";
import type { EditAccounts, StoredEntry } from "../../auth/accounts/file-content-node.ts";
import { withChangedKeys } from "../../auth/accounts/file-keys-node.ts";
import { createApiKey } from "../../auth/keys/create-api-key.ts";
import { toKeyId } from "../../auth/keys/key-text.ts";
import type { ApiKey, KeyPermission } from "../../contracts/api-keys.ts";
import { readConfig, toResolver } from "../config/read/config-file.ts";
import { createFailure } from "../failure.ts";
import { escapeText, type Output } from "../log/terminal.ts";
import { toAccountFailure, warnOfUnknown } from "./account.ts";

/** Where the accounts are: in the file, or in the accounts file of the configuration. */
export interface KeyPlace {
  readonly file?: string;
  readonly config?: string;
}

/** Where a command prints, such as `process`. */
interface KeyStreams {
  readonly stdout: Output;
  readonly stderr: Output;
}

/** The flags of `key create`. */
export interface CreateKeyFlags extends KeyPlace {
  readonly account: string;
  readonly label?: string;
  readonly permission: readonly KeyPermission[];
  readonly path?: string;
  /** Seconds. */
  readonly expires?: number;
  readonly json?: true;
}

/** The flags of `key list`. */
export interface ListKeysFlags extends KeyPlace {
  readonly account?: string;
  readonly json?: true;
}

/**
 * Makes an API key of an account and prints it, this one time. Rejects with a failure: of status 1 if the file cannot
 * be read or written, or lacks the account; of status 2 if a flag or the file is not valid.
 */
export async function createKey(flags: CreateKeyFlags, { stdout, stderr }: KeyStreams): Promise<void> {
  const file = await toFile(flags);
  const { key, text } = toKey(flags);
  await change(file, stderr, (accounts) => {
    requireAccount(accounts, flags.account);
    return accounts.map((account) =>
      account.username === flags.account ? withChangedKeys(account, (keys) => [...keys, key]) : account,
    );
  });
  stdout.write(`${flags.json ? JSON.stringify({ ...toShown(flags.account, key), key: text }) : text}\n`);
}

/** Prints the API keys of the accounts, never the keys themselves. Rejects as {@link createKey} does. */
export async function printKeys(flags: ListKeysFlags, { stdout, stderr }: KeyStreams): Promise<void> {
  const file = await toFile(flags);
  const accounts = await readStoredEntries(file, warnOfUnknown(file, stderr)).catch((error: unknown) => {
    throw toAccountFailure(file, error);
  });
  if (flags.account !== undefined) requireAccount(accounts, flags.account);
  for (const account of accounts) {
    if (flags.account !== undefined && account.username !== flags.account) continue;
    for (const key of keysOf(account)) {
      const line = flags.json ? JSON.stringify(toShown(account.username, key)) : toLine(account.username, key);
      stdout.write(`${line}\n`);
    }
  }
}

/**
 * Revokes an API key, by its ID or its whole text. Rejects with status 1 if there is none, else as {@link createKey}
 * does.
 */
export async function removeKey(given: string, place: KeyPlace, { stdout, stderr }: KeyStreams): Promise<void> {
  const id = toKeyId(given) ?? given;
  const file = await toFile(place);
  await change(file, stderr, (accounts) => {
    const isKnown = accounts.some((account) => keysOf(account).some((key) => key.id === id));
    if (!isKnown) throw createFailure(1, [`error: there is no API key with the ID ${escapeText(id)}`]);
    return accounts.map((account) =>
      keysOf(account).some((key) => key.id === id)
        ? withChangedKeys(account, (keys) => keys.filter((key) => key.id !== id))
        : account,
    );
  });
  stdout.write(`revoke: ${escapeText(id)}\n`);
}

function toKey({ label, permission, path, expires }: CreateKeyFlags): ReturnType<typeof createApiKey> {
  try {
    return createApiKey({
      ...(label !== undefined && { label }),
      ...(permission.length > 0 && { permissions: permission }),
      ...(path !== undefined && { path }),
      ...(expires !== undefined && { expiresIn: expires }),
    });
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    // The message begins with the name of the member, which is that of the flag.
    throw createFailure(2, [`error: ${error.message.replace(/^(?=label |path )/, "--")}`]);
  }
}

async function change(file: string, stderr: Output, edit: EditAccounts): Promise<void> {
  try {
    await editAccountsFile(file, edit, { onUnknownMembers: warnOfUnknown(file, stderr) });
  } catch (error) {
    throw toAccountFailure(file, error);
  }
}

/** The path of the accounts file. */
async function toFile({ file, config }: KeyPlace): Promise<string> {
  if ((file === undefined) === (config === undefined)) {
    throw createFailure(2, [`error: --file or --config is needed${file === undefined ? "" : ", and not both"}`]);
  }
  if (file !== undefined) return file;
  const path = config ?? "";
  const { authentication } = await readConfig(path);
  const [first, ...others] = authentication.flatMap((entry) => ("file" in entry && entry.file ? [entry.file] : []));
  if (first === undefined) throw createFailure(2, [`${path}: authentication: has no accounts file`]);
  if (others.length > 0) throw createFailure(2, [`${path}: authentication: has several accounts files: use --file`]);
  return toResolver(path)(first);
}

function requireAccount(accounts: readonly StoredEntry[], name: string): void {
  if (accounts.some(({ username }) => username === name)) return;
  throw createFailure(1, [`error: there is no account ${escapeText(name)}`]);
}

function keysOf({ keys = [] }: StoredEntry): readonly ApiKey[] {
  return keys as readonly ApiKey[];
}

function toShown(account: string, { sha256: _, ...key }: ApiKey): Readonly<Record<string, unknown>> {
  return { account, ...key };
}

function toLine(account: string, { id, label = "", permissions, path = "/", expires_at: end }: ApiKey): string {
  const isOver = end !== undefined && end * 1000 <= Date.now();
  const facts = [
    permissions === undefined ? "all permissions" : permissions.join(" "),
    end === undefined ? "does not expire" : `${isOver ? "expired" : "until"} ${toTime(end)}`,
    ...(label === "" ? [] : [escapeText(label)]),
  ];
  return `${id}  ${escapeText(account)}  ${escapeText(path)}  ${facts.join(", ")}`;
}

/** Without parts of a second. */
function toTime(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace(".000", "");
}
