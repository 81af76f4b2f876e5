import type { EntityTags, RemoveOptions, StorageEntry, WriteOptions } from "../contracts/storage-adapter.ts";

/** Whether a file with this entity-tag, or none, is what a write demands to find (RFC 9110 13.1.1, 13.1.2). */
export function meetsConditions(etag: string | undefined, { ifMatch, ifNoneMatch }: WriteOptions): boolean {
  if (ifMatch !== undefined && (etag === undefined || !isListed(etag, ifMatch, isStrongMatch))) return false;
  return ifNoneMatch === undefined || etag === undefined || !isListed(etag, ifNoneMatch, isWeakMatch);
}

/** Whether what a removal has found is of the kind that it demands. */
export function isOfKind(found: StorageEntry["kind"], { kind }: RemoveOptions): boolean {
  return kind === undefined || (kind === "folder") === (found === "folder");
}

function isListed(etag: string, tags: EntityTags, isMatch: (one: string, other: string) => boolean): boolean {
  return tags === "*" || tags.some((tag) => isMatch(tag, etag));
}

function isStrongMatch(one: string, other: string): boolean {
  return one === other && !one.startsWith("W/");
}

function isWeakMatch(one: string, other: string): boolean {
  return one.replace(/^W\//, "") === other.replace(/^W\//, "");
}
