import type { ListOptions, StorageEntry } from "../../contracts/storage-adapter.ts";
import { type KeyPage, laterKey, takeFirstMembers, toPageSize, toStartAfter } from "../object-store/first-members.ts";
import type { S3Client } from "./client.ts";
import { isAnyBelow } from "./head.ts";
import { createMemberReader, listPage } from "./list.ts";

/**
 * Yields the first members of a folder after a name, with requests for little more than these. Like `listS3Members`, it
 * yields `undefined` if no key is below the folder.
 */
export async function* listFirstS3Members(
  client: S3Client,
  folder: string,
  folderTime: Date,
  options: ListOptions,
): AsyncGenerator<readonly StorageEntry[] | undefined> {
  const startAfter = toStartAfter(folder, options);
  const controller = new AbortController();
  const { signal } = controller;
  const toEntries = createMemberReader(folder, folderTime);
  let isEmpty = true;

  async function* pages(): AsyncGenerator<KeyPage> {
    let token: string | undefined;
    do {
      const page = await listPage(client, {
        prefix: folder,
        delimiter: "/",
        most: toPageSize(options),
        signal,
        ...(token === undefined ? { startAfter } : { token }),
      });
      token = page.token;
      const last = laterKey(page.keys.at(-1)?.key, page.prefixes.at(-1))?.slice(folder.length);
      if (last !== undefined) isEmpty = false;
      yield { members: toEntries(page), ...(token !== undefined && { last }) };
    } while (token !== undefined);
  }

  async function findFolder(name: string): Promise<StorageEntry | undefined> {
    const isFolder = await isAnyBelow(client, `${folder}${name}/`, signal);
    return isFolder ? { name, kind: "folder", size: 0, modified: folderTime } : undefined;
  }

  try {
    yield* takeFirstMembers(pages(), options, findFolder);
    if (isEmpty && (startAfter === undefined || !(await isAnyBelow(client, folder, signal)))) yield undefined;
  } finally {
    controller.abort();
  }
}
