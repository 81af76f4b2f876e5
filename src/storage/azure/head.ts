import { isSuccessful } from "../object-store/http/client.ts";
import { toEtag, toSecond } from "../object-store/object-entry.ts";
import type { ObjectLookup } from "../object-store/targets.ts";
import { type AzureClient, type AzureRequest, describeAzureRequest } from "./client.ts";
import { isMissingBlob, toAzureError } from "./errors.ts";
import { listBlobs } from "./list.ts";

const METADATA = "x-ms-meta-";
/** Metadata by which a write recognizes its own blob if the response to it was lost. */
export const WRITER = `${METADATA}fileferry_write`;
/** Metadata of a copy: the entity-tag of the version that was copied. */
export const SOURCE = `${METADATA}fileferry_source`;

/** Headers of a response that a blob has from its write, which gives them with `x-ms-blob-` before the name. */
const CONTENT_HEADERS = [
  "content-type",
  "content-encoding",
  "content-language",
  "content-disposition",
  "cache-control",
];

/** What the store reports about a version of a blob. */
export interface AzureVersion {
  readonly modified: Date;
  /** Entity-tag with quotes. */
  readonly etag: string;
}

/** What the store reports about a blob without its content. */
export interface AzureHead extends AzureVersion {
  readonly size: number;
  /** Mark of the write that created the blob; `undefined` if other software created it. */
  readonly writer: string | undefined;
  /** Metadata that other software may have set, by their headers. */
  readonly metadata: Readonly<Record<string, string>>;
  /** Headers by which a write gives another blob the same `Content-Type`, `Cache-Control` and the like. */
  readonly contentHeaders: Readonly<Record<string, string>>;
}

/** Reads the headers of a response about a blob of this size. */
export function toAzureHead(headers: Headers, size: number): AzureHead {
  const metadata = Object.fromEntries([...headers].filter(([name]) => name.startsWith(METADATA)));
  const contentHeaders = Object.fromEntries(
    CONTENT_HEADERS.flatMap((name) => {
      const value = headers.get(name);
      return value === null ? [] : [[`x-ms-blob-${name}`, value]];
    }),
  );
  return { ...toBlobVersion(headers), size, writer: metadata[WRITER], metadata, contentHeaders };
}

/** Reads the headers of a response about a version. */
export function toBlobVersion(headers: Headers): AzureVersion {
  return { modified: toSecond(headers.get("last-modified") ?? ""), etag: toEtag(headers.get("etag") ?? "") };
}

/** Returns the metadata of a blob, or `undefined` if there is none. */
export async function headBlob(client: AzureClient, key: string, signal?: AbortSignal): Promise<AzureHead | undefined> {
  const request: AzureRequest = { method: "HEAD", key, signal };
  const response = await client.call(request);
  if (isMissingBlob(response)) return undefined;
  if (!isSuccessful(response)) throw toAzureError(response, describeAzureRequest(request));
  return toAzureHead(response.headers, Number(response.headers.get("content-length") ?? Number.NaN));
}

/** Whether any key begins with this prefix. */
export async function isAnyBlobBelow(client: AzureClient, folder: string, signal?: AbortSignal): Promise<boolean> {
  const page = await listBlobs(client, { prefix: folder, most: 1, signal });
  return page.keys.length > 0;
}

/** Creates what looks at the blobs of one container. */
export function createBlobLookup(client: AzureClient): ObjectLookup<AzureHead> {
  return {
    head: (key, signal) => headBlob(client, key, signal),
    isAnyBelow: (folder, signal) => isAnyBlobBelow(client, folder, signal),
  };
}
