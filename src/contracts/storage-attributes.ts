import type { StorageEntry } from "./storage-entry.ts";

/**
 * What a storage can keep in addition to the content of files and folders: dead properties (RFC 4918 4.1), and times.
 *
 * A write keeps the properties of the file that it replaces. A removal removes them. Copies have them too, and a move
 * takes them along.
 */
export interface StorageAttributes {
  /**
   * Returns the properties of a file or folder by their names, `{namespace}local`. The values are XML.
   *
   * Rejects with `not-found`, also for a link.
   */
  properties(path: string): Promise<Properties>;

  /**
   * Changes everything that `changes` names, or nothing. Everything else stays, and so does the entity-tag, unless a
   * new time makes it change. No concurrent change is lost.
   *
   * Rejects with `not-found`, also for a link; with `unsupported` if the storage does not keep this; and with
   * `no-space` for more than 100 properties of one file or folder, or more than 64 KiB of them.
   */
  change(path: string, changes: AttributeChanges): Promise<StorageEntry>;
}

/** The values of properties by their names, `{namespace}local`. */
export type Properties = ReadonlyMap<string, string>;

/** The attributes to change. */
export interface AttributeChanges {
  readonly modified?: Date;
  /** New values by the names of properties. `undefined` removes the property; it need not exist. */
  readonly properties?: ReadonlyMap<string, string | undefined>;
}
