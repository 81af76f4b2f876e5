import { matchesStrongly, matchesWeakly } from "../contracts/entity-tags.ts";
import type { RemoveOptions, StorageEntry, WriteOptions } from "../contracts/storage-adapter.ts";

/** Whether a file with this entity-tag, or no file, meets the conditions of a write (RFC 9110 13.1.1, 13.1.2). */
export function meetsConditions(etag: string | undefined, { ifMatch, ifNoneMatch }: WriteOptions): boolean {
  if (ifMatch !== undefined && (etag === undefined || !matchesStrongly(etag, ifMatch))) return false;
  return ifNoneMatch === undefined || etag === undefined || !matchesWeakly(etag, ifNoneMatch);
}

/** Whether a write has conditions at all. */
export function hasConditions({ ifMatch, ifNoneMatch }: WriteOptions): boolean {
  return ifMatch !== undefined || ifNoneMatch !== undefined;
}

/** Whether the member that was found is of the kind that the caller of a removal requires. */
export function isOfKind(found: StorageEntry["kind"], { kind }: RemoveOptions): boolean {
  return kind === undefined || (kind === "folder") === (found === "folder");
}
