import type { StorageEntry } from "../contracts/storage-adapter.ts";
import { sortCooperatively } from "../platform/cooperative-sort.ts";

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

/** What a page shows of a member. No more is held of it, as there may be 100,000. */
export interface PageMember {
  readonly name: string;
  readonly kind: StorageEntry["kind"];
  /** Bytes. */
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly modified: number;
}

export function toPageMember({ name, kind, size, modified }: StorageEntry): PageMember {
  return { name, kind, size, modified: modified.getTime() };
}

type Compare = (one: PageMember, other: PageMember) => number;

/** The members in order: folders first whichever way, and by name where nothing else tells them apart. */
export async function sortMembers(members: readonly PageMember[], order: MemberOrder): Promise<readonly PageMember[]> {
  return sortCooperatively(members, toCompare(order));
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
  modified: (one, other) => one.modified - other.modified,
};

function compareNames(one: PageMember, other: PageMember): number {
  return one.name < other.name ? -1 : Number(one.name > other.name);
}
