import { toBatches } from "../contracts/member-batches.ts";
import { compareNames } from "../contracts/member-names.ts";
import { hasCode, type StorageAdapter, type StorageEntry } from "../contracts/storage-adapter.ts";
import { toCanonicalPath, toPathSegments } from "../contracts/storage-path.ts";
import { createSmallest } from "../platform/smallest.ts";

/** A page of keys, and the key after which the next page begins; absent at the end. */
export interface KeyListing {
  /** In the order of the names in each folder. */
  readonly files: readonly KeyedEntry[];
  /** Folders whose files are not listed. */
  readonly folders: readonly KeyedEntry[];
  readonly next?: string;
}

/** A file or folder, and its key. */
export interface KeyedEntry {
  readonly key: string;
  readonly entry: StorageEntry;
}

/** What {@link listKeyedFiles} lists. */
export interface KeyListingInput {
  /** How the keys begin. */
  readonly prefix: string;
  /** Only keys that come after this one. */
  readonly after?: string | undefined;
  /** At most this number of files and folders. */
  readonly limit: number;
  /** List the files in folders too, and not the folders. */
  readonly isDeep: boolean;
}

/** Lists the files whose keys begin with a prefix. Links are left out. It holds one page of each folder on the way. */
export async function listKeyedFiles(storage: StorageAdapter, input: KeyListingInput): Promise<KeyListing> {
  const { prefix, after, limit, isDeep } = input;
  const base = prefix.slice(0, prefix.lastIndexOf("/") + 1);
  const folder = toFolder(base);
  if (folder === undefined || (after !== undefined && !after.startsWith(base))) return { files: [], folders: [] };
  const passed = after === undefined ? [] : after.slice(base.length).split("/");
  const files: KeyedEntry[] = [];
  const folders: KeyedEntry[] = [];
  let last = "";
  for await (const found of walk({ storage, limit: limit + 1, isDeep }, folder, prefix.slice(base.length), passed)) {
    if (files.length + folders.length === limit) return { files, folders, next: last };
    (found.entry.kind === "folder" ? folders : files).push(found);
    last = found.key;
  }
  return { files, folders };
}

/** Returns the names of the folder that a prefix ends in; `undefined` if there can be none. */
function toFolder(base: string): readonly string[] | undefined {
  try {
    return toPathSegments(`/${base}`.replace(/(?<=.)\/$/, ""));
  } catch {
    return undefined;
  }
}

interface Walk {
  readonly storage: StorageAdapter;
  readonly limit: number;
  readonly isDeep: boolean;
}

/** Yields what is in a folder after the names of `passed`, if its name begins with `prefix`. */
async function* walk(
  input: Walk,
  folder: readonly string[],
  prefix: string,
  [first, ...deeper]: readonly string[],
): AsyncGenerator<KeyedEntry> {
  const { storage, limit } = input;
  if (first !== undefined && deeper.length > 0) yield* walk(input, [...folder, first], "", deeper);
  let last: string | undefined = first ?? toNameBefore(prefix);
  while (last !== undefined) {
    const page = await readPage(storage, toCanonicalPath(folder), last, limit);
    for (const entry of page) {
      if (isAfter(entry.name, prefix)) return;
      if (entry.name.startsWith(prefix)) yield* toKeys(input, [...folder, entry.name], entry);
    }
    last = page.length < limit ? undefined : page.at(-1)?.name;
  }
}

/** Whether a name comes after all those that begin with a prefix. */
function isAfter(name: string, prefix: string): boolean {
  return !name.startsWith(prefix) && compareNames(name, prefix) > 0;
}

/** Yields what a listing has of a member: a file, a folder, or the files in it. */
async function* toKeys(input: Walk, names: readonly string[], entry: StorageEntry): AsyncGenerator<KeyedEntry> {
  if (entry.kind === "folder" && input.isDeep) yield* walk(input, names, "", []);
  else if (entry.kind !== "link") yield { key: names.join("/"), entry };
}

/** Returns the first members of a folder after a name, sorted; none if there is no folder. */
async function readPage(storage: StorageAdapter, path: string, after: string, limit: number) {
  const smallest = createSmallest<StorageEntry>(limit, (one, other) => compareNames(one.name, other.name));
  try {
    for await (const batch of toBatches(storage.list(path, { after, limit }))) {
      await smallest.add(batch.filter(({ name }) => compareNames(name, after) > 0));
    }
  } catch (error) {
    if (!hasCode(error, "not-found", "not-a-folder")) throw error;
    return [];
  }
  return smallest.sorted();
}

/** Returns a text that comes before all names with a prefix, and after almost all others that come before them. */
function toNameBefore(prefix: string): string {
  const last = [...prefix].at(-1);
  const point = last?.codePointAt(0) ?? 0;
  if (last === undefined || point === 0) return prefix.slice(0, -1);
  // Half of a surrogate pair is no character.
  const before = point === 0xe000 ? 0xd7ff : point - 1;
  return `${prefix.slice(0, -last.length)}${String.fromCodePoint(before)}\u{10ffff}`;
}
