import { StorageError } from "../../contracts/storage-adapter.ts";
import { isSuccessful } from "../object-store/http/client.ts";
import { childText, parseResponse, type XmlPart } from "../object-store/http/xml.ts";
import { isKey } from "../object-store/keys.ts";
import {
  type ListedKey,
  listAllObjects,
  type ObjectPage,
  type ObjectPageRequest,
} from "../object-store/member-pages.ts";
import { toEtag, toSecond } from "../object-store/object-entry.ts";
import { describeS3Request, type S3Client } from "./client.ts";
import { toS3StorageError } from "./errors.ts";

/**
 * Gets one page of the keys that begin with a prefix (ListObjectsV2). If the prefix is too long for a key, the page is
 * empty. Keys that are not valid text are left out.
 */
export async function listPage(
  client: S3Client,
  { prefix, delimiter, most, startAfter, token, signal }: ObjectPageRequest,
): Promise<ObjectPage> {
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
  if (!isSuccessful(response)) throw toS3StorageError(response, `${describeS3Request(request)} listing`);
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

function toMembers(root: XmlPart, decode: (text: string) => string | undefined): Pick<ObjectPage, "keys" | "prefixes"> {
  const keys: ListedKey[] = [];
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
export function listObjects(
  client: S3Client,
  prefix: string,
  signal?: AbortSignal,
): AsyncGenerator<readonly ListedKey[]> {
  return listAllObjects((request) => listPage(client, request), prefix, signal);
}
