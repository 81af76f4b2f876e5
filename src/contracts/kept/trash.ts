import type { QuotaLimit } from "../quota.ts";
import type { SweepOptions } from "./sweep-options.ts";

/** Something that was removed and can be restored. */
export interface TrashEntry {
  /** The time of the removal and 64 random bits. No two entries have the same. */
  readonly id: string;
  /** The canonical path in the storage that it was removed from. */
  readonly path: string;
  readonly kind: "file" | "folder";
  /** Bytes; 0 for folders. */
  readonly size: number;
  readonly removed: Date;
}

/** Something in a folder of the trash. */
export interface TrashMember {
  /** Its names, from the removed folder on. */
  readonly segments: readonly string[];
  readonly kind: "file" | "folder" | "link";
}

/** The options of a restoration. */
export interface RestoreOptions {
  /** As in `WriteOptions`. It has to leave room if the new path is elsewhere. */
  readonly quota?: QuotaLimit;
}

/** What the trash of a storage reports: an entry that was removed for good by itself. */
export interface TrashPurge {
  readonly entry: TrashEntry;
  /** It was older than the trash keeps anything, or the trash or a quota had no room for it. */
  readonly reason: "age" | "space";
}

/** The trash of a storage. */
export interface Trash {
  /**
   * Returns the entries that were removed from below a folder, the newest first. It holds the names of 5,000 entries at
   * a time: with more entries it walks through the trash again for each 5,000.
   */
  list(below: string): AsyncIterable<TrashEntry>;
  /**
   * Returns those of the entries with some IDs that were removed from below a folder, in any order. It takes one walk,
   * and none if all of them are known, or are where `paths` says: the paths that they were removed from, by their IDs.
   */
  find(below: string, ids: readonly string[], paths?: ReadonlyMap<string, string>): Promise<readonly TrashEntry[]>;
  /** Whether what is removed from a folder goes to the trash. Absent: from any folder. */
  covers?(folder: string): boolean;
  /** Returns everything in the folder of an entry, each folder before its members. Nothing for a file. */
  members(id: string): AsyncIterable<TrashMember>;
  /**
   * Moves an entry back to its path, or to another one, and returns this path. Missing folders around it are created,
   * and removed again if it is refused.
   *
   * Rejects with `not-found` if there is no such entry; with `already-exists` if there is anything at the path; and as
   * `move` of the storage does.
   */
  restore(id: string, to?: string, options?: RestoreOptions): Promise<string>;
  /** Removes an entry for good. Of several callers exactly one gets `true`, if the storage moves in one step. */
  purge(id: string): Promise<boolean>;
  /**
   * Removes for good what is too old or too much, and what a crash has left. Returns the number of entries. Several
   * processes may call it at the same time.
   */
  sweep(options?: SweepOptions): Promise<number>;
  /** Calls a function after each entry that was removed by itself. What it throws is ignored. Returns its end. */
  watch(listener: (purge: TrashPurge) => void): () => void;
}
