import type { TrashEntry } from "../../../../src/contracts/kept/trash.ts";
import { isStorageError, type StorageAdapter } from "../../../../src/contracts/storage-adapter.ts";
import { createMemoryStorage } from "../../../../src/storage/memory.ts";
import { createTrashStorage, type TrashOptions, type TrashStorage } from "../../../../src/storage/trash.ts";

/** A storage with a trash, the storage below it, and a clock that only the test moves. */
export interface OpenedTrash {
  readonly inner: StorageAdapter;
  readonly storage: TrashStorage;
  pass(seconds: number): void;
}

/** Opens a trash in a storage: in memory, if no other is given. */
export function openTrash(options: TrashOptions = {}, inner: StorageAdapter = createMemoryStorage()): OpenedTrash {
  let now = Date.UTC(2026, 0, 1);
  const storage = createTrashStorage(inner, { clock: () => now, ...options });
  const pass = (seconds: number): void => {
    now += 1000 * seconds;
  };
  return { inner, storage, pass };
}

/** The entries of a trash below a folder, in their order. */
export async function entriesOf({ trash }: Pick<TrashStorage, "trash">, below = "/"): Promise<readonly TrashEntry[]> {
  const entries: TrashEntry[] = [];
  for await (const entry of trash.list(below)) entries.push(entry);
  return entries;
}

/** The paths of all files and empty folders of a storage, with what wrappers keep. Sorted. */
export async function pathsIn(storage: StorageAdapter, folder = "/"): Promise<readonly string[]> {
  const paths: string[] = [];
  for await (const { name, kind } of storage.list(folder)) {
    const path = folder === "/" ? `/${name}` : `${folder}/${name}`;
    const inside = kind === "folder" ? await pathsIn(storage, path) : [];
    paths.push(...(inside.length > 0 ? inside : [kind === "folder" ? `${path}/` : path]));
  }
  return paths.sort();
}

/** What became of a promise: `done`, or the code of its StorageError. */
export async function codeOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => "done",
    (error: unknown) => (isStorageError(error) ? error.code : String(error)),
  );
}
