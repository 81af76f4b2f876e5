import { compareNames } from "../../contracts/member-names.ts";
import { type ListOptions, type StorageEntry, StorageError } from "../../contracts/storage-adapter.ts";
import { type KeyPage, laterKey, takeFirstMembers, toPageSize, toStartAfter } from "../object-store/first-members.ts";
import type { R2Bucket, R2Page } from "./binding.ts";
import { createMembers, toCursorField, toFolderEntries } from "./list.ts";
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
  let isFound = isRoot;

  async function isAnyBelow(prefix: string): Promise<boolean> {
    return (await mapR2Errors(() => bucket.list({ prefix, limit: 1 }))).objects.length > 0;
  }

  async function* pages(): AsyncGenerator<KeyPage> {
    const common = { prefix: folderKey, delimiter: "/", limit: toPageSize(options) };
    let cursor: string | undefined;
    do {
      const place = cursor === undefined && startAfter !== undefined ? { startAfter } : toCursorField(cursor);
      const page: R2Page = await mapR2Errors(() => bucket.list({ ...common, ...place }));
      const last = laterKey(page.objects.at(-1)?.key, page.delimitedPrefixes.at(-1))?.slice(folderKey.length);
      if (last !== undefined) isFound = true;
      const { files, folders } = members.of(page);
      const later = folders.filter((name) => compareNames(name, options.after) > 0);
      cursor = page.truncated ? page.cursor : undefined;
      const found = [...files, ...(await toFolderEntries(bucket, folderKey, later))];
      yield { members: found, ...(cursor !== undefined && { last }) };
    } while (cursor !== undefined);
  }

  async function findFolder(name: string): Promise<StorageEntry | undefined> {
    if (!(await isAnyBelow(`${folderKey}${name}/`))) return undefined;
    return (await toFolderEntries(bucket, folderKey, [name]))[0];
  }

  yield* takeFirstMembers(pages(), options, findFolder);
  if (!isFound && (startAfter === undefined || !(await isAnyBelow(folderKey)))) throw new StorageError("not-found");
}
