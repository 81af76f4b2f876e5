import { toBatches } from "../../contracts/member-batches.ts";
import { hasCode, type StorageAdapter, type StorageEntry } from "../../contracts/storage-adapter.ts";
import { parentOf } from "../../contracts/storage-path.ts";
import { isRecord } from "../wrappers/records.ts";
import { type Amount, add, NOTHING } from "./amount.ts";

/** What one entry counts as. Folders and symlinks count as nothing. */
export function toAmount(entry: StorageEntry | undefined): Amount {
  return entry?.kind === "file" ? { bytes: entry.size, files: 1 } : NOTHING;
}

/**
 * Returns what an entry counts as, with everything below it. Members that disappear meanwhile count as nothing.
 * `onMember`: called with all that is found below it.
 */
export async function measure(
  storage: StorageAdapter,
  path: string,
  entry: StorageEntry | undefined,
  signal?: AbortSignal,
  onMember?: (path: string, entry: StorageEntry) => void,
): Promise<Amount> {
  if (entry?.kind !== "folder") return isRecord(parentOf(path), entry?.name ?? "") ? NOTHING : toAmount(entry);
  let sum = NOTHING;
  const waiting = [path];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    const { amount, folders } = await measureFolder(storage, folder, signal, onMember);
    sum = add(sum, amount);
    for (const one of folders) waiting.push(one);
  }
  return sum;
}

/** What a folder has directly in it. */
export interface FolderContent {
  readonly amount: Amount;
  /** The paths of its folders. */
  readonly folders: readonly string[];
}

/** Returns what is directly in a folder; nothing if the folder is missing. */
export async function measureFolder(
  storage: StorageAdapter,
  folder: string,
  signal?: AbortSignal,
  onMember?: (path: string, entry: StorageEntry) => void,
): Promise<FolderContent> {
  let amount = NOTHING;
  const folders: string[] = [];
  try {
    for await (const batch of toBatches(storage.list(folder))) {
      signal?.throwIfAborted();
      for (const entry of batch) {
        const path = folder === "/" ? `/${entry.name}` : `${folder}/${entry.name}`;
        onMember?.(path, entry);
        if (entry.kind === "folder") folders.push(path);
        else if (!isRecord(folder, entry.name)) amount = add(amount, toAmount(entry));
      }
    }
  } catch (error) {
    const isMissing = hasCode(error, "not-found", "not-a-folder");
    if (!isMissing) throw error;
    return { amount: NOTHING, folders: [] };
  }
  return { amount, folders };
}
