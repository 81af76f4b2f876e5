/** A member of a folder, or the root, whose name is empty. */
export interface StorageEntry {
  readonly name: string;
  readonly kind: "file" | "folder" | "link";
  /** Bytes; 0 for folders and links. */
  readonly size: number;
  readonly modified: Date;
  /**
   * The entity-tag with its quotes (RFC 9110 8.8.3); a weak one begins with `W/`. Only files have one. If two entries
   * of one path have equal strong tags, their bytes are equal.
   */
  readonly etag?: string;
  /** Whether it has properties (`StorageAttributes`). Absent: it has none. The entry of `read` may leave it out. */
  readonly hasProperties?: true;
  /**
   * Whether it is a link that the storage follows: all else is about the target. The entries of `stat` and `list` say
   * so.
   */
  readonly isFollowed?: true;
}

/** Returns the entry of the link itself if it is one that the storage follows, else the same entry. */
export function toUnfollowed(entry: StorageEntry): StorageEntry {
  return entry.isFollowed ? { ...entry, kind: "link", size: 0 } : entry;
}
