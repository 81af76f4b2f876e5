import { turn } from "../contracts/member-batches.ts";
import type { StorageEntry } from "../contracts/storage-adapter.ts";

/** How many members of a folder are gone through before others have their turn. */
export const MEMBERS_PER_TURN = 1000;

/** The columns that a folder's page can be sorted by. */
export const SORT_KEYS = ["name", "size", "modified"] as const;

export type SortKey = (typeof SORT_KEYS)[number];

/** How the members on a folder's page are sorted. */
export interface MemberOrder {
  readonly key: SortKey;
  readonly isDescending: boolean;
}

/** Reads `sort=name|size|modified&order=asc|desc`; what it does not know it ignores, and sorts by name (CONTRACT 3.3). */
export function parseMemberOrder(query: URLSearchParams): MemberOrder {
  const key = SORT_KEYS.find((known) => known === query.get("sort")) ?? "name";
  return { key, isDescending: query.get("order") === "desc" };
}

type Compare = (one: StorageEntry, other: StorageEntry) => number;

/**
 * The members in order: folders first whichever way, and by name where nothing else tells them apart. Sorted in runs that are then merged, with
 * pauses in between, as a folder may hold more than can be sorted in one go without keeping others waiting.
 */
export async function sortMembers(
  members: readonly StorageEntry[],
  order: MemberOrder,
): Promise<readonly StorageEntry[]> {
  const compare = toCompare(order);
  let runs: (readonly StorageEntry[])[] = [];
  for (let start = 0; start < members.length; start += MEMBERS_PER_TURN) {
    if (start > 0) await turn();
    runs.push(members.slice(start, start + MEMBERS_PER_TURN).sort(compare));
  }
  while (runs.length > 1) {
    const merged: (readonly StorageEntry[])[] = [];
    for (let index = 0; index < runs.length; index += 2) {
      merged.push(merge(runs[index] ?? [], runs[index + 1] ?? [], compare));
      await turn();
    }
    runs = merged;
  }
  return runs[0] ?? [];
}

function merge(ones: readonly StorageEntry[], others: readonly StorageEntry[], compare: Compare): StorageEntry[] {
  const merged: StorageEntry[] = [];
  let position = 0;
  for (const other of others) {
    for (let one = ones[position]; one !== undefined && compare(one, other) <= 0; one = ones[++position])
      merged.push(one);
    merged.push(other);
  }
  for (let one = ones[position]; one !== undefined; one = ones[++position]) merged.push(one);
  return merged;
}

function toCompare({ key, isDescending }: MemberOrder): Compare {
  const sign = isDescending ? -1 : 1;
  const compare = COMPARE[key];
  return (one, other) => {
    const byKind = Number(other.kind === "folder") - Number(one.kind === "folder");
    return byKind || sign * compare(one, other) || compareNames(one, other);
  };
}

const COMPARE: Readonly<Record<SortKey, Compare>> = {
  name: compareNames,
  // What a storage says of a folder's size is not shown.
  size: (one, other) => (one.kind === "folder" ? 0 : one.size - other.size),
  modified: (one, other) => one.modified.getTime() - other.modified.getTime(),
};

function compareNames(one: StorageEntry, other: StorageEntry): number {
  return one.name < other.name ? -1 : Number(one.name > other.name);
}
