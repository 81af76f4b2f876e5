import type { ListOptions, StorageEntry } from "../../contracts/storage-adapter.ts";
import { type KeyPage, takeFirstMembers, toPageSize, toStartAfter } from "../object-store/first-members.ts";
import { createListedMarker, createMemberReader, type ListPage, toMarkedPage } from "../object-store/member-pages.ts";
import type { S3Client } from "./client.ts";
import { isAnyBelow } from "./head.ts";
import { listPage } from "./list.ts";
import { hasS3Properties } from "./properties.ts";

/**
 * Yields the first members of a folder after a name, with requests for little more than these. Like
 * `listObjectMembers`, it yields `undefined` if no key is below the folder.
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
  const beginning = startAfter?.slice(folder.length);
  const most = toPageSize(options);
  const pageOf: ListPage = (request) => listPage(client, request);
  const marker = createListedMarker(pageOf, folder, { after: beginning, most, signal });
  let isEmpty = true;

  async function* pages(): AsyncGenerator<KeyPage> {
    let token: string | undefined;
    do {
      const page = await pageOf({
        prefix: folder,
        delimiter: "/",
        most,
        signal,
        ...(token === undefined ? { startAfter } : { token }),
      });
      token = page.token;
      if (page.keys.length > 0 || page.prefixes.length > 0) isEmpty = false;
      const marked = toMarkedPage(folder, page);
      yield { members: await marker.mark(toEntries(page), marked), last: marked.last };
    } while (token !== undefined);
  }

  async function findFolder(name: string): Promise<StorageEntry | undefined> {
    const location = { name, key: folder + name, folder: `${folder}${name}/`, parent: folder };
    if (!(await isAnyBelow(client, location.folder, signal))) return undefined;
    const hasProperties = await hasS3Properties(client, location);
    return { name, kind: "folder", size: 0, modified: folderTime, ...(hasProperties && { hasProperties }) };
  }

  try {
    yield* takeFirstMembers(pages(), options, findFolder);
    if (isEmpty && (startAfter === undefined || !(await isAnyBelow(client, folder, signal)))) yield undefined;
  } finally {
    controller.abort();
  }
}
