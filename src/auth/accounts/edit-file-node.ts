import { constants } from "node:fs";
import { open, unlink } from "node:fs/promises";
import { createNodePasswordHasher } from "../passwords/hash-node.ts";
import {
  type EditAccounts,
  findUnknownMembers,
  isSystemError,
  parseAccountsFile,
  readRegularFile,
  type StoredEntry,
  toStoredEntries,
  withAccounts,
} from "./file-content-node.ts";
import { withLockedFile } from "./lock-file-node.ts";
import { replaceFile } from "./replace-file-node.ts";

/** Receives the places of the members that the service does not know, such as `accounts[0].note`, if there are any. */
export type OnUnknownMembers = (places: readonly string[]) => void;

/**
 * Returns the accounts of a file as it has them, with members that the service does not know. Throws the error of the
 * system if the file cannot be read, and `TypeError`, which names the member and the reason, if it is not valid.
 */
export async function readStoredEntries(
  file: string,
  onUnknownMembers?: OnUnknownMembers,
): Promise<readonly StoredEntry[]> {
  const content = await readRegularFile(file);
  const unknown = findUnknownMembers(content, createNodePasswordHasher());
  if (unknown.length > 0) onUnknownMembers?.(unknown);
  return toStoredEntries(content);
}

/** How {@link editAccountsFile} works. */
export interface EditOptions {
  /** Creates the file, which only its owner can read, if there is none. */
  readonly canCreate?: boolean;
  /** Called after the change, if the file has such members. Without this option they are an error. */
  readonly onUnknownMembers?: OnUnknownMembers;
}

/**
 * Changes the accounts of a file. Running services see the change within a second. Changes by several processes come
 * one after the other. A change keeps the order of the members and the indentation. Readers, also after a crash, see
 * the accounts before or after the change. Returns whether it created the file.
 *
 * Throws the error of the system if the file cannot be read or written, and `TypeError`, which names the member and the
 * reason, if the accounts before or after the change are not valid. Then nothing is changed.
 */
export async function editAccountsFile(
  file: string,
  edit: EditAccounts,
  { canCreate = false, onUnknownMembers }: EditOptions = {},
): Promise<{ readonly isNew: boolean }> {
  const hasher = createNodePasswordHasher();
  const isNew = canCreate && (await createEmpty(file));

  function check(content: Uint8Array): readonly string[] {
    if (onUnknownMembers !== undefined) return findUnknownMembers(content, hasher);
    parseAccountsFile(content, hasher);
    return [];
  }

  try {
    const unknown = await withLockedFile(file, () => change(file, edit, check));
    if (unknown.length > 0) onUnknownMembers?.(unknown);
    return { isNew };
  } catch (error) {
    if (isNew) await unlink(file);
    throw error;
  }
}

/** Returns what `check` returns of the new content. */
async function change<T>(file: string, edit: EditAccounts, check: (content: Uint8Array) => T): Promise<T> {
  const content = await readRegularFile(file);
  check(content);
  const text = withAccounts(content, edit);
  const checked = check(new TextEncoder().encode(text));
  // An editor may have changed the file meanwhile.
  if (!content.equals(await readRegularFile(file))) return change(file, edit, check);
  await replaceFile(file, text);
  return checked;
}

/** Returns `false` if there is a file. */
async function createEmpty(file: string): Promise<boolean> {
  try {
    const handle = await open(file, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
    try {
      await handle.writeFile('{\n  "accounts": []\n}\n');
    } finally {
      await handle.close();
    }
    return true;
  } catch (error) {
    if (isSystemError(error) && error.code === "EEXIST") return false;
    throw error;
  }
}
