import { compareNames } from "../../contracts/member-names.ts";
import type { StorageEntry } from "../../contracts/storage-adapter.ts";
import { PROPERTIES_FOLDER } from "./keys.ts";

/** One page of a folder's keys, in their order. */
export interface MarkedPage {
  /** Whether the folder of the properties is in this page. */
  readonly hasProperties: boolean;
  /** The last key of the page without the key of the folder; absent if no keys follow. */
  readonly last?: string | undefined;
}

/** Marks the members of the pages of one listing that have properties. */
export interface PropertyMarker {
  mark(entries: readonly StorageEntry[], page: MarkedPage): Promise<readonly StorageEntry[]>;
}

const PREFIX = `${PROPERTIES_FOLDER}/`;

/**
 * Creates the marker of a listing that begins after the key `start`.
 *
 * The names of the members with properties are read in step with the pages, and only if there are any: the listing
 * itself shows that, as the prefix of their keys is one of its keys. So a folder without properties usually costs no
 * request, and one with properties costs one for each 1,000 of them.
 *
 * The key of the folder `a` is `a/`, which comes after `a-b`. So a name may belong to a later page than its order says:
 * then the last key of the page begins with it, and it is kept.
 */
export function createPropertyMarker(
  listNames: () => AsyncIterableIterator<readonly string[]>,
  start = "",
): PropertyMarker {
  /** `undefined` until it is known whether there are properties. */
  let pages: AsyncIterator<readonly string[]> | "none" | undefined;
  /** Names that belong to later pages. */
  let waiting: readonly string[] = [];

  function open({ hasProperties, last }: MarkedPage): AsyncIterator<readonly string[]> | "none" {
    const isPassed = compareNames(start, PREFIX) < 0 && (last === undefined || compareNames(last, PREFIX) >= 0);
    return isPassed && !hasProperties ? "none" : listNames();
  }

  async function mark(entries: readonly StorageEntry[], page: MarkedPage): Promise<readonly StorageEntry[]> {
    pages ??= open(page);
    if (pages === "none") return entries;
    const members = new Set(entries.map(({ name }) => name));
    const found = new Set<string>();
    let names = waiting;
    for (;;) {
      for (const name of names) if (members.has(name)) found.add(name);
      waiting = names.filter((name) => isLater(name, page.last) && !found.has(name));
      const isAhead = waiting.some((name) => page.last !== undefined && compareNames(name, page.last) > 0);
      if (isAhead) break;
      const next = await pages.next();
      if (next.done === true) break;
      names = [...waiting, ...next.value];
    }
    if (found.size === 0) return entries;
    return entries.map((entry) => (found.has(entry.name) ? { ...entry, hasProperties: true } : entry));
  }

  return { mark };
}

function isLater(name: string, last: string | undefined): boolean {
  return last !== undefined && (compareNames(name, last) > 0 || last.startsWith(name));
}
