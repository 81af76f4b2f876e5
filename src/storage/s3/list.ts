import { type StorageEntry, StorageError } from "../../contracts/storage-adapter.ts";
import { laterKey } from "../object-store/first-members.ts";
import { isKey, isName, PROPERTIES_FOLDER } from "../object-store/keys.ts";
import type { MarkedPage, PropertyMarker } from "../object-store/property-marks.ts";
import { describeS3Request, type S3Client } from "./client.ts";
import { toEtag, toS3FileEntry, toSecond } from "./entries.ts";
import { isDone, toS3StorageError } from "./errors.ts";
import { childText, parseResponse, type XmlPart } from "./xml.ts";

/** Parameters of a listing (ListObjectsV2). */
export interface S3ListRequest {
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

/** An object in a listing. */
export interface S3ListedKey {
  readonly key: string;
  readonly size: number;
  readonly modified: Date;
  readonly etag: string;
}

/** A page of a listing, in byte order of the keys. */
export interface S3Page {
  readonly keys: readonly S3ListedKey[];
  /** Prefixes of the grouped keys, each with its delimiter. */
  readonly prefixes: readonly string[];
  /** Token of the next page, if there is one. */
  readonly token: string | undefined;
}

/**
 * Gets one page of the keys that begin with a prefix. If the prefix is too long for a key, the page is empty. Keys that
 * are not valid text are left out.
 */
export async function listPage(
  client: S3Client,
  { prefix, delimiter, most, startAfter, token, signal }: S3ListRequest,
): Promise<S3Page> {
  if (!isKey(prefix)) return { keys: [], prefixes: [], token: undefined };
  const query = {
    "list-type": "2",
    "encoding-type": "url",
    "max-keys": String(most ?? 1000),
    prefix,
    ...(delimiter !== undefined && { delimiter }),
    ...(startAfter !== undefined && { "start-after": startAfter }),
    ...(token !== undefined && { "continuation-token": token }),
  };
  const request = { method: "GET", query, signal } as const;
  const response = await client.call(request);
  if (!isDone(response)) throw toS3StorageError(response, `${describeS3Request(request)} listing`);
  const root = parseResponse(response.text);
  if (root?.name !== "ListBucketResult")
    throw new StorageError("unavailable", "The store's response is not a listing.");
  const decode = childText(root, "EncodingType") === "url" ? decodeKey : (text: string) => text;
  const next = childText(root, "IsTruncated") === "true" ? childText(root, "NextContinuationToken") : "";
  // Without a token, the rest of the listing would silently be missing.
  if (next === "" && childText(root, "IsTruncated") === "true") {
    throw new StorageError("unavailable", "The store truncated a listing: it does not support ListObjectsV2.");
  }
  // A repeated token would cause an endless loop.
  if (next !== "" && next === token) throw new StorageError("unavailable", "The store sent a page of a listing twice.");
  return { ...toMembers(root, decode), token: next === "" ? undefined : next };
}

function toMembers(root: XmlPart, decode: (text: string) => string | undefined): Pick<S3Page, "keys" | "prefixes"> {
  const keys: S3ListedKey[] = [];
  const prefixes: string[] = [];
  for (const part of root.parts) {
    if (part.name === "Contents") {
      const key = decode(childText(part, "Key"));
      if (key === undefined) continue;
      const [size = "", modified = "", etag = ""] = ["Size", "LastModified", "ETag"].map((name) =>
        childText(part, name),
      );
      // The size is used in lengths and offsets, for example of archives.
      if (!/^\d{1,15}$/.test(size)) throw new StorageError("unavailable", "The store listed a file without its size.");
      keys.push({ key, size: Number(size), modified: toSecond(modified), etag: toEtag(etag) });
    } else if (part.name === "CommonPrefixes") {
      const prefix = decode(childText(part, "Prefix"));
      if (prefix !== undefined) prefixes.push(prefix);
    }
  }
  return { keys, prefixes };
}

/** Decodes a key of `encoding-type=url`. Some stores encode a space as a plus sign, others with percent-encoding. */
function decodeKey(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll("+", "%20"));
  } catch {
    return undefined;
  }
}

/** Yields all objects below a prefix in pages, in the order of their keys. */
export async function* listObjects(
  client: S3Client,
  prefix: string,
  signal?: AbortSignal,
): AsyncGenerator<readonly S3ListedKey[]> {
  let token: string | undefined;
  do {
    const page = await listPage(client, { prefix, token, signal });
    yield page.keys;
    token = page.token;
  } while (token !== undefined);
}

/**
 * Yields the members of a folder in pages. Requests the next page while the caller works on the current one. If no key
 * is below the folder, not even its marker, the first page is `undefined`.
 * @param folderTime time of the subfolders, because stores keep none
 * @param createMarker creates what marks the members with properties
 */
export async function* listS3Members(
  client: S3Client,
  folder: string,
  folderTime: Date,
  createMarker: (signal: AbortSignal) => PropertyMarker,
): AsyncGenerator<readonly StorageEntry[] | undefined> {
  const controller = new AbortController();
  const fetchPage = (token?: string) =>
    listPage(client, { prefix: folder, delimiter: "/", token, signal: controller.signal });
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
export function createMemberReader(folder: string, folderTime: Date): (page: S3Page) => readonly StorageEntry[] {
  let previous: readonly string[] = [];

  return ({ keys, prefixes }) => {
    const files = keys.flatMap((file) => {
      const name = file.key.slice(folder.length);
      return isName(name) ? [toS3FileEntry(name, file)] : [];
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
export function toMarkedPage(folder: string, { keys, prefixes, token }: S3Page): MarkedPage {
  const last = laterKey(keys.at(-1)?.key, prefixes.at(-1))?.slice(folder.length);
  return {
    hasProperties: prefixes.includes(`${folder}${PROPERTIES_FOLDER}/`),
    ...(token !== undefined && { last }),
  };
}
