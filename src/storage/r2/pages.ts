import type { ListedObject } from "../object-store/copied-objects.ts";
import type { R2Bucket, R2Page } from "./binding.ts";
import { mapR2Errors } from "./write.ts";

/** The option of a listing that continues after a page. */
export function toCursorField(cursor: string | undefined): { cursor?: string } {
  return cursor === undefined ? {} : { cursor };
}

/** Yields all objects below a prefix in pages, in the order of their keys. */
export async function* listR2Objects(
  bucket: R2Bucket,
  prefix: string,
  signal?: AbortSignal,
): AsyncGenerator<readonly ListedObject[]> {
  let cursor: string | undefined;
  do {
    signal?.throwIfAborted();
    const page: R2Page = await mapR2Errors(() => bucket.list({ prefix, limit: 1000, ...toCursorField(cursor) }));
    yield page.objects.map(({ key, size, httpEtag }) => ({ key, size, etag: httpEtag }));
    cursor = page.truncated ? page.cursor : undefined;
  } while (cursor !== undefined);
}
