import { matchesStrongly, matchesWeakly } from "../contracts/entity-tags.ts";
import type { RemoveOptions, StorageEntry, WriteOptions } from "../contracts/storage-adapter.ts";

/** Whether a file with this entity-tag, or none, is what a write demands to find (RFC 9110 13.1.1, 13.1.2). */
export function meetsConditions(etag: string | undefined, { ifMatch, ifNoneMatch }: WriteOptions): boolean {
  if (ifMatch !== undefined && (etag === undefined || !matchesStrongly(etag, ifMatch))) return false;
  return ifNoneMatch === undefined || etag === undefined || !matchesWeakly(etag, ifNoneMatch);
}

/** Whether what a removal has found is of the kind that it demands. */
export function isOfKind(found: StorageEntry["kind"], { kind }: RemoveOptions): boolean {
  return kind === undefined || (kind === "folder") === (found === "folder");
}
