import type { MemberAction } from "../contracts/pages/member-action.ts";
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

/**
 * Reads `sort=name|size|modified&order=asc|desc`. Unknown values are ignored; the default is `name`, `asc` (CONTRACT
 * 3.3).
 */
export function parseMemberOrder(query: URLSearchParams): MemberOrder {
  const key = SORT_KEYS.find((known) => known === query.get("sort")) ?? "name";
  return { key, isDescending: query.get("order") === "desc" };
}

/** The URL of a folder's page, such as `../`, with the order of the page that it stands on. The default needs none. */
export function toOrderedUrl(url: string, { key, isDescending }: MemberOrder): string {
  if (key === "name" && !isDescending) return url;
  return `${url}${url.includes("?") ? "&" : "?"}sort=${key}&order=${isDescending ? "desc" : "asc"}`;
}

/** What a page shows of a member. A folder may have 100,000 members, so nothing else is kept in memory. */
export interface PageMember {
  readonly name: string;
  readonly kind: StorageEntry["kind"];
  /** Bytes. */
  readonly size: number;
  /** Milliseconds since 1970. */
  readonly modified: number;
  /** The actions that the account may not do on it. Default: none. */
  readonly denied?: readonly MemberAction[];
}

/** A member that a search has found. */
export interface FoundMember extends PageMember {
  /** The names from the folder of the search to the member, separated by `/`. */
  readonly path: string;
}

export function toPageMember({ name, kind, size, modified }: StorageEntry): PageMember {
  return { name, kind, size, modified: modified.getTime() };
}

type Compare = (one: PageMember, other: PageMember) => number;

/**
 * Sorts the members. Folders come first in both directions, and members that are otherwise equal are sorted by name.
 * `compareNames`: that of the page's language. Names that it takes for equal have the order of their code units.
 */
export async function sortMembers(
  members: readonly PageMember[],
  order: MemberOrder,
  compareNames: (one: string, other: string) => number,
): Promise<readonly PageMember[]> {
  const byName: Compare = ({ name: one }, { name: other }) =>
    compareNames(one, other) || (one < other ? -1 : Number(one > other));
  return sortCooperatively(members, toCompare(order, byName));
}

function toCompare({ key, isDescending }: MemberOrder, compareNames: Compare): Compare {
  const sign = isDescending ? -1 : 1;
  const compare = key === "name" ? compareNames : COMPARE[key];
  return (one, other) => {
    const byKind = Number(other.kind === "folder") - Number(one.kind === "folder");
    return byKind || sign * compare(one, other) || compareNames(one, other);
  };
}

const COMPARE: Readonly<Record<Exclude<SortKey, "name">, Compare>> = {
  // Pages do not show the size of folders.
  size: (one, other) => (one.kind === "folder" ? 0 : one.size - other.size),
  modified: (one, other) => one.modified - other.modified,
};
