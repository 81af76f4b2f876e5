import type { Account } from "../../account/account.ts";

/** So many folders of an account are remembered. */
const MAX_FOLDERS = 100;

const broken = new WeakMap<Account, Set<string>>();

/** Whether the length of a folder's archive may be told beforehand: not where that could not be kept the last time. */
export function mayPromise(account: Account, folder: string): boolean {
  return broken.get(account)?.has(folder) !== true;
}

/**
 * Remembers that an archive did not become as long as promised: a member was changed, or removed, or the storage does not give it out. Whoever
 * tries again gets what can be read, without a length.
 */
export function noteBrokenPromise(account: Account, folder: string): void {
  const folders = broken.get(account) ?? new Set();
  broken.set(account, folders);
  folders.add(folder);
  const [oldest] = folders;
  if (folders.size > MAX_FOLDERS && oldest !== undefined) folders.delete(oldest);
}
