import type { TrashMember } from "../../contracts/kept/trash.ts";
import type { StorageAdapter, StorageEntry } from "../../contracts/storage-adapter.ts";
import { toUnfollowed } from "../../contracts/storage-entry.ts";
import { createSmallest } from "../../platform/smallest.ts";
import { listIfFolder } from "../wrappers/list-folder.ts";
import { isTimedId } from "../wrappers/timed-ids.ts";
import { type EntryPlace, isPlace } from "./places.ts";

/** How many folders wait to be listed. The names in a folder with more folders wait in its open listing. */
const MAX_WAITING = 10_000;
/** How many entries are sorted at a time. */
const PAGE = 5000;

/**
 * Yields all entries below a folder of the trash, in any order, in batches. It never looks into an entry. `onEmpty`:
 * called with each folder that has no members.
 */
export async function* walkEntries(
  storage: StorageAdapter,
  top: string,
  onEmpty?: (folder: string) => Promise<void>,
  isNested = false,
): AsyncGenerator<readonly EntryPlace[]> {
  const waiting = [top];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    let isEmpty = true;
    for await (const batch of listIfFolder(storage, folder)) {
      isEmpty &&= batch.length === 0;
      const names = batch.filter(({ kind }) => kind === "folder").map(({ name }) => name);
      const isEntry = (name: string): boolean => isPlace(folder as string) && isTimedId(name);
      yield names.filter(isEntry).map((id) => ({ id, folder: folder as string }));
      for (const name of names.filter((one) => !isEntry(one))) {
        const path = `${folder}/${name}`;
        // A folder has as many places of entries as files were removed from it. They do not wait.
        const isDue = (isPlace(name) && !isNested) || waiting.length >= MAX_WAITING;
        if (isDue) yield* walkEntries(storage, path, onEmpty, true);
        else waiting.push(path);
      }
    }
    if (isEmpty) await onEmpty?.(folder);
  }
}

/**
 * Yields the entries below a folder of the trash in the order of their IDs, in pages. Each page is a walk: so there may
 * be any number of entries, of which it holds few.
 */
export async function* walkInOrder(
  storage: StorageAdapter,
  top: string,
  order: "newest" | "oldest",
): AsyncGenerator<readonly EntryPlace[]> {
  const sign = order === "newest" ? -1 : 1;
  const compare = (one: string, other: string): number => (one < other ? -sign : one > other ? sign : 0);
  let last: string | undefined;
  for (;;) {
    const after = last;
    const page = createSmallest<EntryPlace>(PAGE, (one, other) => compare(one.id, other.id));
    for await (const batch of walkEntries(storage, top)) {
      await page.add(after === undefined ? batch : batch.filter(({ id }) => compare(id, after) > 0));
    }
    const entries = await page.sorted();
    yield entries;
    if (entries.length < PAGE) return;
    last = entries.at(-1)?.id;
  }
}

/** Yields everything below a folder, each folder before its members. */
export async function* walkTrashMembers(
  storage: StorageAdapter,
  top: string,
): AsyncGenerator<TrashMember & Pick<StorageEntry, "size">> {
  const waiting: (readonly string[])[] = [[]];
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for await (const batch of listIfFolder(storage, [top, ...folder].join("/"))) {
      for (const entry of batch) {
        const segments = [...folder, entry.name];
        const { kind, size } = toUnfollowed(entry);
        if (kind === "folder") waiting.push(segments);
        yield { segments, kind, size };
      }
    }
  }
}
