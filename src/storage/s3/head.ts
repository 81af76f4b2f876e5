import { isSuccessful } from "../object-store/http/client.ts";
import type { ObjectLookup } from "../object-store/targets.ts";
import { describeS3Request, type S3Client } from "./client.ts";
import { type S3Head, toHead } from "./entries.ts";
import { isMissing, toS3StorageError } from "./errors.ts";
import { listPage } from "./list.ts";

/** Returns the metadata of an object, or `undefined` if there is none. */
export async function headObject(client: S3Client, key: string, signal?: AbortSignal): Promise<S3Head | undefined> {
  return (await headResponse(client, key, signal))?.head;
}

/** Returns the metadata and the response of an object, or `undefined` if there is none. */
export async function headResponse(
  client: S3Client,
  key: string,
  signal?: AbortSignal,
): Promise<{ readonly head: S3Head; readonly headers: Headers } | undefined> {
  const request = { method: "HEAD", key, signal } as const;
  const response = await client.call(request);
  if (isMissing(response)) return undefined;
  if (!isSuccessful(response)) throw toS3StorageError(response, describeS3Request(request));
  const { headers } = response;
  return { head: toHead(headers, Number(headers.get("content-length") ?? Number.NaN)), headers };
}

/** Whether any key begins with this prefix. */
export async function isAnyBelow(client: S3Client, folder: string, signal?: AbortSignal): Promise<boolean> {
  const { keys } = await listPage(client, { prefix: folder, most: 1, signal });
  return keys.length > 0;
}

/** Creates what looks at the objects of one bucket. */
export function createS3Lookup(client: S3Client): ObjectLookup<S3Head> {
  return {
    head: (key, signal) => headObject(client, key, signal),
    isAnyBelow: (folder, signal) => isAnyBelow(client, folder, signal),
  };
}
