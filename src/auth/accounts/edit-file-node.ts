import { constants } from "node:fs";
import { open, unlink } from "node:fs/promises";
import { createNodePasswordHasher } from "../passwords/hash-node.ts";
import {
  type EditAccounts,
  isSystemError,
  parseAccountsFile,
  readRegularFile,
  type StoredEntry,
  toStoredEntries,
  withAccounts,
} from "./file-content-node.ts";
import { withLockedFile } from "./lock-file-node.ts";
import { replaceFile } from "./replace-file-node.ts";

/**
 * Returns the accounts of a file as it has them. Throws the error of the system if the file cannot be read, and
 * `TypeError`, which names the member and the reason, if it is not valid.
 */
export async function readStoredEntries(file: string): Promise<readonly StoredEntry[]> {
  const content = await readRegularFile(file);
  parseAccountsFile(content, createNodePasswordHasher());
  return toStoredEntries(content);
}

/** How {@link editAccountsFile} works. */
export interface EditOptions {
  /** Creates the file, which only its owner can read, if there is none. */
  readonly canCreate?: boolean;
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
  { canCreate = false }: EditOptions = {},
): Promise<{ readonly isNew: boolean }> {
  const isNew = canCreate && (await createEmpty(file));
  try {
    await withLockedFile(file, () => change(file, edit));
    return { isNew };
  } catch (error) {
    if (isNew) await unlink(file);
    throw error;
  }
}

async function change(file: string, edit: EditAccounts): Promise<void> {
  const hasher = createNodePasswordHasher();
  const content = await readRegularFile(file);
  parseAccountsFile(content, hasher);
  const text = withAccounts(content, edit);
  parseAccountsFile(new TextEncoder().encode(text), hasher);
  // An editor may have changed the file meanwhile.
  if (content.equals(await readRegularFile(file))) await replaceFile(file, text);
  else await change(file, edit);
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
