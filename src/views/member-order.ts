import type { StorageEntry } from "../contracts/storage-adapter.ts";

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

/** The members in order: folders first whichever way, and by name where nothing else tells them apart. */
export function sortMembers(members: readonly StorageEntry[], { key, isDescending }: MemberOrder): StorageEntry[] {
  const sign = isDescending ? -1 : 1;
  const compare = COMPARE[key];
  return [...members].sort((one, other) => {
    const byKind = Number(other.kind === "folder") - Number(one.kind === "folder");
    return byKind || sign * compare(one, other) || compareNames(one, other);
  });
}

const COMPARE: Readonly<Record<SortKey, (one: StorageEntry, other: StorageEntry) => number>> = {
  name: compareNames,
  // What a storage says of a folder's size is not shown.
  size: (one, other) => (one.kind === "folder" ? 0 : one.size - other.size),
  modified: (one, other) => one.modified.getTime() - other.modified.getTime(),
};

function compareNames(one: StorageEntry, other: StorageEntry): number {
  return one.name < other.name ? -1 : Number(one.name > other.name);
}
