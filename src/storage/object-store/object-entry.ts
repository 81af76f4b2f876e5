import type { StorageEntry } from "../../contracts/storage-adapter.ts";

/** The part of an object's metadata that is in the entry of a file. */
type FileFacts = Pick<StorageEntry, "size" | "modified"> & { readonly etag: string };

/** Creates the entry of a file. */
export function toObjectEntry(name: string, { size, modified, etag }: FileFacts): StorageEntry {
  return { name, kind: "file", size, modified, ...(etag !== "" && { etag }) };
}

/** Returns an entity-tag in quotes. Some stores omit them. */
export function toEtag(text: string): string {
  return text === "" || text.endsWith('"') ? text : `"${text}"`;
}

/**
 * Parses a time, rounded down to seconds. Listings have milliseconds, headers do not, and both must give the same time.
 */
export function toSecond(text: string): Date {
  const time = Date.parse(text);
  return new Date(Number.isNaN(time) ? 0 : Math.floor(time / 1000) * 1000);
}
