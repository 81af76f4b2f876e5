import type { StorageEntry } from "../../contracts/storage-adapter.ts";
import type { ListedObject } from "./copied-objects.ts";
import { laterKey } from "./first-members.ts";
import { isKey, isName, PROPERTIES_FOLDER } from "./keys.ts";
import { toObjectEntry } from "./object-entry.ts";
import { createPropertyMarker, type MarkedPage, type PropertyMarker } from "./property-marks.ts";

/** Parameters of a listing. */
export interface ObjectPageRequest {
  readonly prefix: string;
  /** Groups keys up to this delimiter. Default: all keys are listed. */
  readonly delimiter?: "/";
  /** Maximum number of keys. 1 to 1,000; default 1,000. */
  readonly most?: number;
  /** Only keys after this one. */
  readonly startAfter?: string | undefined;
  /** Token from the previous page. */
  readonly token?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** An object in a listing, and its time. */
export interface ListedKey extends ListedObject {
  readonly modified: Date;
}

/** A page of a listing, in byte order of the keys. */
export interface ObjectPage {
  readonly keys: readonly ListedKey[];
  /** Prefixes of the grouped keys, each with its delimiter. */
  readonly prefixes: readonly string[];
  /** Token of the next page, if there is one. */
  readonly token: string | undefined;
}

/** Gets one page of the keys that begin with a prefix. */
export type ListPage = (request: ObjectPageRequest) => Promise<ObjectPage>;

/** Yields all objects below a prefix in pages, in the order of their keys. */
export async function* listAllObjects(
  listPage: ListPage,
  prefix: string,
  signal?: AbortSignal,
): AsyncGenerator<readonly ListedKey[]> {
  let token: string | undefined;
  do {
    const page = await listPage({ prefix, token, signal });
    yield page.keys;
    token = page.token;
  } while (token !== undefined);
}

/** Creates what marks the members of a folder's listing, which begins after a name. Pages have at most `most` keys. */
export function createListedMarker(
  listPage: ListPage,
  folder: string,
  {
    after = "",
    most,
    signal,
  }: { readonly after?: string | undefined; readonly most?: number; readonly signal?: AbortSignal } = {},
): PropertyMarker {
  const prefix = `${folder}${PROPERTIES_FOLDER}/`;
  const first = after !== "" && isKey(prefix + after) ? prefix + after : undefined;

  async function* listNames(): AsyncGenerator<readonly string[]> {
    let token: string | undefined;
    do {
      const startAfter = token === undefined ? first : undefined;
      const page = await listPage({ prefix, startAfter, token, signal, ...(most !== undefined && { most }) });
      yield page.keys.flatMap(({ key, size }) => (size > 0 ? [key.slice(prefix.length)] : []));
      token = page.token;
    } while (token !== undefined);
  }

  return createPropertyMarker(listNames, after);
}

/**
 * Yields the members of a folder in pages. Requests the next page while the caller works on the current one. If no key
 * is below the folder, not even its marker, the first page is `undefined`.
 * @param folderTime time of the subfolders, because stores keep none
 * @param createMarker creates what marks the members with properties
 */
export async function* listObjectMembers(
  listPage: ListPage,
  folder: string,
  folderTime: Date,
  createMarker: (signal: AbortSignal) => PropertyMarker,
): AsyncGenerator<readonly StorageEntry[] | undefined> {
  const controller = new AbortController();
  const fetchPage = (token?: string) => listPage({ prefix: folder, delimiter: "/", token, signal: controller.signal });
  const toEntries = createMemberReader(folder, folderTime);
  const marker = createMarker(controller.signal);
  try {
    let page = await fetchPage();
    if (page.keys.length === 0 && page.prefixes.length === 0 && page.token === undefined) yield undefined;
    for (;;) {
      const next = page.token === undefined ? undefined : fetchPage(page.token);
      next?.catch(() => undefined);
      yield await marker.mark(toEntries(page), toMarkedPage(folder, page));
      if (next === undefined) return;
      page = await next;
    }
  } finally {
    controller.abort();
  }
}

/**
 * Creates a function that converts pages to entries, in order. If a file and a folder have the same name, the file
 * wins. The folder comes later in key order, and only names that begin with the same text come between them. So few
 * file names have to be kept from page to page.
 */
export function createMemberReader(folder: string, folderTime: Date): (page: ObjectPage) => readonly StorageEntry[] {
  let previous: readonly string[] = [];

  return ({ keys, prefixes }) => {
    const files = keys.flatMap((file) => {
      const name = file.key.slice(folder.length);
      return isName(name) ? [toObjectEntry(name, file)] : [];
    });
    const names = new Set([...previous, ...files.map(({ name }) => name)]);
    const folders = prefixes.flatMap((prefix): StorageEntry[] => {
      const name = prefix.slice(folder.length, -1);
      return isName(name) && !names.has(name) ? [{ name, kind: "folder", size: 0, modified: folderTime }] : [];
    });
    const ends = [keys.at(-1)?.key, prefixes.at(-1)].map((end) => end?.slice(folder.length) ?? "");
    previous = [...names].filter((name) => ends.some((end) => end.startsWith(name)));
    return files.length === 0 ? folders : [...files, ...folders];
  };
}

/** Returns what the marker of a listing needs to know about a page of the folder. */
export function toMarkedPage(folder: string, { keys, prefixes, token }: ObjectPage): MarkedPage {
  const last = laterKey(keys.at(-1)?.key, prefixes.at(-1))?.slice(folder.length);
  return {
    hasProperties: prefixes.includes(`${folder}${PROPERTIES_FOLDER}/`),
    ...(token !== undefined && { last }),
  };
}
