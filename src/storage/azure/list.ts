import { StorageError } from "../../contracts/storage-adapter.ts";
import { isSuccessful } from "../object-store/http/client.ts";
import { childText, parseResponse, type XmlPart } from "../object-store/http/xml.ts";
import { isKey } from "../object-store/keys.ts";
import type { ListedKey, ObjectPage, ObjectPageRequest } from "../object-store/member-pages.ts";
import { toEtag, toSecond } from "../object-store/object-entry.ts";
import { type AzureClient, describeAzureRequest } from "./client.ts";
import { toAzureError } from "./errors.ts";

type BlobPageRequest = Omit<ObjectPageRequest, "startAfter">;

/**
 * Gets one page of the keys that begin with a prefix (List Blobs). The store may send empty pages although others
 * follow; these are left out. It has no way to begin after a key.
 */
export async function listBlobs(client: AzureClient, request: BlobPageRequest): Promise<ObjectPage> {
  if (!isKey(request.prefix)) return { keys: [], prefixes: [], token: undefined };
  for (let { token } = request; ; ) {
    const page = await getPage(client, { ...request, token });
    if (page.keys.length > 0 || page.prefixes.length > 0 || page.token === undefined) return page;
    token = page.token;
  }
}

async function getPage(
  client: AzureClient,
  { prefix, delimiter, most = 1000, token, signal }: BlobPageRequest,
): Promise<ObjectPage> {
  const query = {
    restype: "container",
    comp: "list",
    maxresults: String(most),
    ...(prefix !== "" && { prefix }),
    ...(delimiter !== undefined && { delimiter }),
    ...(token !== undefined && { marker: token }),
  };
  const request = { method: "GET", query, signal } as const;
  const response = await client.call(request);
  if (!isSuccessful(response)) throw toAzureError(response, describeAzureRequest(request));
  const root = parseResponse(response.text);
  if (root?.name !== "EnumerationResults") {
    throw new StorageError("unavailable", "The store's response is not a listing.");
  }
  const next = childText(root, "NextMarker");
  // A repeated marker would cause an endless loop.
  if (next !== "" && next === token) throw new StorageError("unavailable", "The store sent a page of a listing twice.");
  const blobs = partOf(root, "Blobs")?.parts ?? [];
  return {
    keys: blobs.flatMap((part) => (part.name === "Blob" ? toKey(part) : [])),
    prefixes: blobs.flatMap((part) => (part.name === "BlobPrefix" ? toName(part) : [])),
    token: next === "" ? undefined : next,
  };
}

function toKey(part: XmlPart): readonly ListedKey[] {
  const properties = partOf(part, "Properties");
  const size = childText(properties, "Content-Length");
  // The size is used in lengths and offsets, for example of archives.
  if (!/^\d{1,15}$/.test(size)) throw new StorageError("unavailable", "The store listed a file without its size.");
  const [modified = "", etag = ""] = ["Last-Modified", "Etag"].map((name) => childText(properties, name));
  return toName(part).map((key) => ({
    key,
    size: Number(size),
    modified: toSecond(modified),
    etag: toEtag(etag),
  }));
}

/** Returns a name; none if the store had to encode it: no name of this storage needs that. */
function toName(part: XmlPart): readonly string[] {
  const name = partOf(part, "Name");
  return name === undefined || name.attributes["Encoded"] === "true" ? [] : [name.text];
}

function partOf(part: XmlPart | undefined, name: string): XmlPart | undefined {
  return part?.parts.find((one) => one.name === name);
}
