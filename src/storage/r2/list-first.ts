import { compareNames } from "../../contracts/member-names.ts";
import { type ListOptions, type StorageEntry, StorageError } from "../../contracts/storage-adapter.ts";
import { type KeyPage, takeFirstMembers, toPageSize, toStartAfter } from "../object-store/first-members.ts";
import type { R2Bucket, R2Page } from "./binding.ts";
import { createMembers, toFolderEntries } from "./list.ts";
import { toCursorField } from "./pages.ts";
import { createR2PropertyMarker, hasR2Properties, toR2MarkedPage } from "./properties.ts";
import { mapR2Errors } from "./write.ts";

/**
 * Yields the first members of a folder after a name, with requests for little more than these.
 * @throws StorageError `not-found` at the end if no key begins with `folderKey`, except for the root.
 */
export async function* listFirstR2Members(
  bucket: R2Bucket,
  folderKey: string,
  isRoot: boolean,
  options: ListOptions,
): AsyncGenerator<readonly StorageEntry[]> {
  const startAfter = toStartAfter(folderKey, options);
  const members = createMembers(folderKey);
  const limit = toPageSize(options);
  const marker = createR2PropertyMarker(bucket, folderKey, { after: startAfter?.slice(folderKey.length), limit });
  let isFound = isRoot;

  async function isAnyBelow(prefix: string): Promise<boolean> {
    return (await mapR2Errors(() => bucket.list({ prefix, limit: 1 }))).objects.length > 0;
  }

  async function* pages(): AsyncGenerator<KeyPage> {
    const common = { prefix: folderKey, delimiter: "/", limit };
    let cursor: string | undefined;
    do {
      const place = cursor === undefined && startAfter !== undefined ? { startAfter } : toCursorField(cursor);
      const page: R2Page = await mapR2Errors(() => bucket.list({ ...common, ...place }));
      if (page.objects.length > 0 || page.delimitedPrefixes.length > 0) isFound = true;
      const marked = toR2MarkedPage(folderKey, page);
      const { files, folders } = members.of(page);
      const later = folders.filter((name) => compareNames(name, options.after) > 0);
      cursor = page.truncated ? page.cursor : undefined;
      const found = [...files, ...(await toFolderEntries(bucket, folderKey, later))];
      yield { members: await marker.mark(found, marked), last: marked.last };
    } while (cursor !== undefined);
  }

  async function findFolder(name: string): Promise<StorageEntry | undefined> {
    const location = { name, key: folderKey + name, folder: `${folderKey}${name}/`, parent: folderKey };
    if (!(await isAnyBelow(location.folder))) return undefined;
    const [hasProperties, [entry]] = await Promise.all([
      hasR2Properties(bucket, location),
      toFolderEntries(bucket, folderKey, [name]),
    ]);
    return entry && hasProperties ? { ...entry, hasProperties } : entry;
  }

  yield* takeFirstMembers(pages(), options, findFolder);
  if (!isFound && (startAfter === undefined || !(await isAnyBelow(folderKey)))) throw new StorageError("not-found");
}
