import {
  type ListedKey,
  listAllObjects,
  type ObjectPage,
  type ObjectPageRequest,
} from "../object-store/member-pages.ts";
import type { R2Bucket, R2Page } from "./binding.ts";
import { mapR2Errors } from "./write.ts";

/** The option of a listing that continues after a page. */
export function toCursorField(cursor: string | undefined): { cursor?: string } {
  return cursor === undefined ? {} : { cursor };
}

/** Gets one page of the keys that begin with a prefix. */
export async function listR2Page(
  bucket: R2Bucket,
  { prefix, delimiter, most: limit = 1000, startAfter, token, signal }: ObjectPageRequest,
): Promise<ObjectPage> {
  signal?.throwIfAborted();
  const start = startAfter === undefined ? toCursorField(token) : { startAfter };
  const page: R2Page = await mapR2Errors(() =>
    bucket.list({ prefix, limit, ...(delimiter !== undefined && { delimiter }), ...start }),
  );
  return {
    keys: page.objects.map(({ key, size, httpEtag, uploaded }) => ({ key, size, etag: httpEtag, modified: uploaded })),
    prefixes: page.delimitedPrefixes,
    token: page.truncated ? page.cursor : undefined,
  };
}

/** Yields all objects below a prefix in pages, in the order of their keys. */
export function listR2Objects(
  bucket: R2Bucket,
  prefix: string,
  signal?: AbortSignal,
): AsyncGenerator<readonly ListedKey[]> {
  return listAllObjects((request) => listR2Page(bucket, request), prefix, signal);
}
