import { type StorageEntry, StorageError } from "../../contracts/storage-adapter.ts";
import { isName } from "../object-store/keys.ts";
import type { R2Bucket, R2Object, R2Page } from "./binding.ts";
import { toCursorField } from "./pages.ts";
import { createR2PropertyMarker, toR2MarkedPage } from "./properties.ts";
import { mapR2Errors } from "./write.ts";

/** Number of parallel requests of one listing. A Worker has six connections. */
const MAX_PARALLEL = 6;

/** Converts an object to the entry of a file. */
export function toR2FileEntry(name: string, { size, uploaded, httpEtag }: R2Object): StorageEntry {
  return { name, kind: "file", size, modified: uploaded, etag: httpEtag };
}

/** Converts a folder to its entry. Its time is that of its marker, or the epoch if it has no marker. */
export function toFolderEntry(name: string, marker: R2Object | null): StorageEntry {
  return { name, kind: "folder", size: 0, modified: marker?.uploaded ?? new Date(0) };
}

/**
 * Yields the members of a folder, one page of keys at a time. Other tools may create a file and a folder with the same
 * name. The listing then shows the file, as `stat` does.
 * @throws StorageError `not-found` at the first step if no key begins with `folderKey`, except for the root.
 */
export async function* listR2Members(
  bucket: R2Bucket,
  folderKey: string,
  isRoot: boolean,
): AsyncGenerator<readonly StorageEntry[]> {
  let cursor: string | undefined;
  let isFound = isRoot;
  const members = createMembers(folderKey);
  const marker = createR2PropertyMarker(bucket, folderKey);
  do {
    const page: R2Page = await mapR2Errors(() =>
      bucket.list({ prefix: folderKey, delimiter: "/", ...toCursorField(cursor) }),
    );
    isFound ||= page.objects.length > 0 || page.delimitedPrefixes.length > 0;
    if (!isFound && !page.truncated) throw new StorageError("not-found");
    const { files, folders } = members.of(page);
    cursor = page.truncated ? page.cursor : undefined;
    const found = [...files, ...(await toFolderEntries(bucket, folderKey, folders))];
    yield await marker.mark(found, toR2MarkedPage(folderKey, page));
  } while (cursor !== undefined);
}

/** Extracts members from the pages of one listing, in order. */
export function createMembers(folderKey: string) {
  /**
   * Names of files that are a prefix of the current name. A folder may still follow with the same name as one of them.
   */
  let candidates: readonly string[] = [];

  function of(page: R2Page): { readonly files: readonly StorageEntry[]; readonly folders: readonly string[] } {
    const files: StorageEntry[] = [];
    const folders: string[] = [];
    for (const { key, object } of inOrder(page)) {
      const name = key.slice(folderKey.length, object === undefined ? -1 : undefined);
      candidates = candidates.filter((file) => name.startsWith(file));
      if (!isName(name)) continue;
      if (object === undefined) {
        if (!candidates.includes(name)) folders.push(name);
        continue;
      }
      candidates = [...candidates, name];
      files.push(toR2FileEntry(name, object));
    }
    return { files, folders };
  }

  return { of };
}

/** Merges the objects and prefixes of a page, sorted by key. */
function inOrder({ objects, delimitedPrefixes }: R2Page): readonly { key: string; object?: R2Object }[] {
  const keys = [
    ...objects.map((object) => ({ key: object.key, object })),
    ...delimitedPrefixes.map((key) => ({ key })),
  ];
  return keys.sort((one, other) => (one.key < other.key ? -1 : 1));
}

export async function toFolderEntries(
  bucket: R2Bucket,
  folderKey: string,
  names: readonly string[],
): Promise<readonly StorageEntry[]> {
  const entries: StorageEntry[] = [];
  for (let index = 0; index < names.length; index += MAX_PARALLEL) {
    const some = names.slice(index, index + MAX_PARALLEL).map(async (name) => {
      return toFolderEntry(name, await mapR2Errors(() => bucket.head(`${folderKey}${name}/`)));
    });
    entries.push(...(await Promise.all(some)));
  }
  return entries;
}
