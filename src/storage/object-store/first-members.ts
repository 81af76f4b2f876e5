import { compareNames } from "../../contracts/member-names.ts";
import type { ListOptions, StorageEntry } from "../../contracts/storage-adapter.ts";
import { isKey, isName } from "./keys.ts";

/** The members of one page of keys, which a store lists in the order of the keys. */
export interface KeyPage {
  readonly members: readonly StorageEntry[];
  /** The last key of the page without the key of the folder; absent if no keys follow. */
  readonly last?: string | undefined;
}

/** If the store has to be asked for more folders than this, the listing goes on instead. */
const MAX_SOUGHT = 6;

/**
 * Yields the members of pages after a name, until the first `limit` of them are found.
 *
 * The key of the folder `a` is `a/`, which comes after `a-b` and `a.txt`, although its name comes before them. So names
 * may be missing that come before those already found. Their keys come after the last key of the page, which then
 * begins with them: `findFolder` is asked for each such name.
 */
export async function* takeFirstMembers(
  pages: AsyncIterable<KeyPage>,
  { after, limit }: ListOptions,
  findFolder: (name: string) => Promise<StorageEntry | undefined>,
): AsyncGenerator<readonly StorageEntry[]> {
  let first: readonly string[] = [];
  for await (const { members, last = "" } of pages) {
    const later = members.filter(({ name }) => compareNames(name, after) > 0);
    yield later;
    first = [...first, ...later.map(({ name }) => name)].sort(compareNames).slice(0, limit);
    const highest = first[limit - 1];
    if (highest === undefined) continue;
    const sought = prefixesOf(last).filter(
      (name) => compareNames(name, after) > 0 && compareNames(name, highest) < 0 && !first.includes(name),
    );
    if (sought.length > MAX_SOUGHT) continue;
    const folders = await Promise.all(sought.map(findFolder));
    yield folders.filter((folder) => folder !== undefined);
    return;
  }
}

/** The names of folders that may come after this key, although the names themselves come before it. */
function prefixesOf(key: string): readonly string[] {
  const names: string[] = [];
  for (let end = 1; end < key.length; end++) {
    const name = key.slice(0, end);
    if (key.charAt(end) < "/" && isName(name)) names.push(name);
  }
  return names;
}

/** The later one of two keys of a page. */
export function laterKey(one: string | undefined, other: string | undefined): string | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return compareNames(one, other) > 0 ? one : other;
}

/** The key after which a store begins; `undefined` for the first key, or if no member can have the name. */
export function toStartAfter(folder: string, { after }: ListOptions): string | undefined {
  const key = folder + after;
  return isName(after) && isKey(key) ? key : undefined;
}

/** How many keys are asked for at once: one more than needed, as the first one may be a folder with the name itself. */
export function toPageSize({ limit }: ListOptions): number {
  return Math.min(limit + 1, 1000);
}
