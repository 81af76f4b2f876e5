import type { EntityTags } from "../entity-tags.ts";
import type { QuotaLimit } from "../quota.ts";

/*
 * What the methods of a `StorageAdapter` take: options, conditions, and parts of files and folders.
 */

/**
 * The members that a caller needs: the first `limit` files and folders after the name `after`, in the order of the code
 * points of their names (`compareNames`). A link that `list` reports as its target counts as that; one that it reports
 * as a link does not count. All members come after the empty name. `after` need not be the name of a member, nor a
 * possible one.
 */
export interface ListOptions {
  readonly after: string;
  /** At least 1. */
  readonly limit: number;
}

/** A part of a file, in bytes. A part beyond the end of the file is left out. */
export interface ByteRange {
  readonly offset: number;
  readonly length: number;
}

/** The options and conditions of a write. */
export interface WriteOptions {
  /** The announced number of bytes. With any other number the write rejects with `incomplete`. */
  readonly size?: number;
  /**
   * Write only over a file with one of these strong entity-tags, or with `"*"` over any existing file (RFC 9110
   * 13.1.1).
   */
  readonly ifMatch?: EntityTags;
  /**
   * Write only if no file with one of these entity-tags exists (weak comparison), or with `"*"` only if no file exists
   * (RFC 9110 13.1.2).
   */
  readonly ifNoneMatch?: EntityTags;
  /** Aborts the write; its promise then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Who writes. A storage may share its memory among owners. The text has no other meaning, and is never logged. */
  readonly owner?: string;
  /** The time of the file, if the storage can set it. Default: now. */
  readonly modified?: Date;
  /** A limit of the caller. Only storages with quotas have a use for it. */
  readonly quota?: QuotaLimit;
}

/** The options of a new folder. */
export interface CreateFolderOptions {
  /** Default: the account and group of the process. */
  readonly owner?: FolderOwner;
}

/** The conditions of a removal. */
export interface RemoveOptions {
  /**
   * Remove only an entry of this kind, as `stat` reports it. A link counts as a file. If the storage reports links as
   * their targets, a link counts as its target, and the link is removed. Default: any kind.
   */
  readonly kind?: "file" | "folder";
  /** Remove only a file with one of these strong entity-tags (RFC 9110 13.1.1). */
  readonly ifMatch?: EntityTags;
  /**
   * Remove a folder only if it is empty; otherwise it is `precondition-failed`. Links in it go with it. A storage whose
   * listings hide other members checks this; any other one may ignore it.
   */
  readonly ifEmpty?: true;
  /** Remove for good. Only storages with a trash have a use for it. */
  readonly permanent?: boolean;
  /** Called with the ID of the entry if the storage has moved what it has removed to its trash. */
  readonly onTrashed?: (id: string) => void;
}

/** The options and conditions of a copy or a move. */
export interface TransferOptions {
  /** Copy or move only an entry of this kind. A link counts as a file. Default: any kind. */
  readonly kind?: "file" | "folder";
  /** Replace what is at the new path. Default: false, and anything there is `already-exists`. */
  readonly replace?: boolean;
  /** Copy or move only a file with one of these strong entity-tags (RFC 9110 13.1.1). */
  readonly ifMatch?: EntityTags;
  /** Aborts the work; its promise then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /**
   * Called before the storage changes anything, if it has to read the content here to write it elsewhere. What it
   * throws ends the work. Storages that copy or move by themselves do not call it.
   */
  readonly onRead?: () => void;
  /** As in {@link WriteOptions}. */
  readonly quota?: QuotaLimit;
  /**
   * A copy may share the bytes of its original, as a hard link does. The caller promises that neither is ever changed
   * in place, in content or properties: both are only replaced or removed. The tag of the copy may be that of the
   * original. A storage may ignore this.
   */
  readonly mayShare?: true;
}

/** Whether something was at the new path. */
export type Placement = "created" | "replaced";

/** The operating system's account and group that own a folder, by name or number. */
export interface FolderOwner {
  readonly user?: string;
  readonly group?: string;
}
