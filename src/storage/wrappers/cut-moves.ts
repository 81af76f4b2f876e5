import { toStrongTag } from "../../contracts/entity-tags.ts";
import type { StorageEntry } from "../../contracts/storage-adapter.ts";

/**
 * Whether the old and the new name of a move have one file. A disk makes the new name of a file and then removes the
 * old one, and a crash can come between. Files of a disk that have one tag are one file. Elsewhere files with the same
 * content may have one tag, but they have different times.
 */
export function isCutMove(source: StorageEntry | undefined, target: StorageEntry | undefined): boolean {
  if (source?.kind !== "file" || target?.kind !== "file") return false;
  const tag = toStrongTag(source.etag);
  return tag !== undefined && tag === target.etag && source.modified.getTime() === target.modified.getTime();
}
