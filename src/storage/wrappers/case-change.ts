import { hasCode, type StorageAdapter, type TransferOptions } from "../../contracts/storage-adapter.ts";
import { foldPath } from "../../contracts/storage-path.ts";

/**
 * Moves a file or folder to a name that differs in case, if nothing else has that name. On a disk that ignores case it
 * is found at its own new name, so a caller that may replace what is there takes it for that. Returns whether it was
 * moved.
 */
export async function tryCaseChange(
  storage: Pick<StorageAdapter, "move">,
  from: string,
  to: string,
  options: TransferOptions,
): Promise<boolean> {
  if (foldPath(from) !== foldPath(to)) return false;
  try {
    await storage.move(from, to, { ...options, replace: false });
    return true;
  } catch (error) {
    if (!hasCode(error, "already-exists")) throw error;
    return false;
  }
}
