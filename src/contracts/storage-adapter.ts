import type { ByteSource } from "./byte-source.ts";
import type { EntityTags } from "./entity-tags.ts";
import type {
  ByteRange,
  CreateFolderOptions,
  FolderOwner,
  ListOptions,
  Placement,
  RemoveOptions,
  TransferOptions,
  WriteOptions,
} from "./storage-adapter/options.ts";
import type { StorageAttributes } from "./storage-attributes.ts";
import type { StorageEntry } from "./storage-entry.ts";
import type { StorageUploads } from "./storage-uploads.ts";

export { hasCode, isStorageError, StorageError, type StorageErrorCode } from "./storage-error.ts";
export type {
  ByteRange,
  CreateFolderOptions,
  EntityTags,
  FolderOwner,
  ListOptions,
  Placement,
  RemoveOptions,
  StorageEntry,
  TransferOptions,
  WriteOptions,
};

/**
 * A storage: one tree of files and folders. Eight methods are required.
 *
 * Paths are absolute and canonical: decoded, separated by `/`, without empty segments, `.` or `..`, and without a `/`
 * at the end. The root is `/`. The service passes only such paths; for any other path an adapter throws `TypeError`.
 * Adapters keep names exactly: they do not trim names, change their case or normalize them.
 *
 * An adapter rejects with a {@link StorageError} for every failure that clients may learn about. The service treats any
 * other error as a defect: it logs the error, and the client gets a general message.
 */
export interface StorageAdapter {
  /**
   * Returns the entry at a path. Returns `undefined` if there is nothing, and if a parent is missing or is a file or a
   * link. A link is reported as a link, unless the storage reports links as their targets.
   */
  stat(path: string): Promise<StorageEntry | undefined>;

  /**
   * Returns the members of a folder, each once, in any order, without holding all of them in memory. Members that are
   * created or removed during the listing may be missing or not, but never make it fail. A listing is faster if the
   * result also has `batches` (`toMembers`).
   *
   * Throws at the first step: `not-found` if nothing exists at the path, `not-a-folder` for a file or a link.
   *
   * With `options` the caller needs only a part of the members. A storage that finds it faster may leave out the
   * others, and any storage may ignore this.
   */
  list(path: string, options?: ListOptions): AsyncIterable<StorageEntry>;

  /**
   * Returns a tag of what `list` yields for a folder, in at most 100 visible ASCII characters without `"`: while it is
   * the same, so are the names, kinds, sizes and times of the members. Different folders have different tags, also
   * those of another storage or process. Returns `undefined` if there is no folder or no tag.
   *
   * Only for a storage that knows the tag without listing the folder. The time of a folder on a disk is none: it stays
   * when a member gets new content.
   */
  listingTag?(path: string): Promise<string | undefined>;

  /**
   * Returns the content of a file, or the part that `range` names, with the entry of exactly this version. A later
   * write changes neither. The caller reads `body` to its end or cancels it; both release what the file holds. A body
   * that cannot be delivered completely fails; it never ends early.
   *
   * Rejects with `not-found`, also for a link, and with `not-a-file` for a folder.
   */
  read(path: string, range?: ByteRange): Promise<StoredFile>;

  /**
   * Stores `content` as the file at `path`, completely or not at all. Until the promise resolves, readers see the
   * previous state. If it rejects, the previous state stays, without leftovers. If several writers use one path, each
   * writes a complete file, and the last one to finish wins.
   *
   * The adapter checks the conditions and the path before it reads from `content`. It checks the conditions again when
   * it replaces the file, in one step with the replacement if the storage can do that.
   *
   * Rejects with
   *
   * - `parent-missing`, `not-a-folder` (a parent is a file) or `not-a-file` (a folder exists at the path);
   * - `precondition-failed`, `no-space` or `too-large`;
   * - `incomplete` if `content` has fewer or more than `size` bytes;
   * - the signal's reason when the signal aborts;
   * - the error that `content` throws.
   *
   * A link is replaced, never followed.
   */
  write(path: string, content: AsyncIterable<Uint8Array>, options?: WriteOptions): Promise<StorageEntry>;

  /**
   * Creates an empty folder. If several callers create one path, exactly one of them succeeds.
   *
   * Rejects with `denied` if the storage does not know the owner or may not give a folder to it. It checks this before
   * it looks at the path, and creates nothing then. Otherwise it rejects with `already-exists` (anything exists at the
   * path), `parent-missing` or `not-a-folder` (a parent is a file).
   */
  createFolder(path: string, options?: CreateFolderOptions): Promise<void>;

  /**
   * Removes a file, a link (never its target), or a folder with everything in it. The removal of a folder is not
   * atomic: after a failure the rest stays. Members that another caller removes meanwhile are not an error.
   *
   * Rejects with `not-found`, also if the entry is not of the requested kind; with `denied` for the root; and with
   * `precondition-failed` if the file does not meet the condition. The adapter checks the kind first, and checks both
   * in one step with the removal if the storage can do that. If a file is requested, and a folder replaces it at this
   * moment, the folder is never removed. The same holds for a requested folder and a file.
   */
  remove(path: string, options?: RemoveOptions): Promise<void>;

  /**
   * Copies a file, or a folder with everything in it except links. The copies have the properties of their originals,
   * and entity-tags of their own. With `replace`, the copy replaces what is at `to`, of whatever kind. The source is
   * never changed. All or nothing if the storage can do that; otherwise a failure removes what the copy has created, as
   * far as possible. For adapters without a copy of their own: `copyByReading`.
   *
   * Rejects with
   *
   * - `denied` if `from` or `to` is the root, if they are equal, or if one is in the other;
   * - `not-found` if there is no file or folder at `from`, or not of the requested kind;
   * - `precondition-failed` if the file at `from` does not meet the condition;
   * - `parent-missing`, `not-a-folder` (a parent of `to` is a file) or `already-exists`;
   * - `no-space` or `too-large`, and the signal's reason when the signal aborts.
   */
  copy(from: string, to: string, options?: TransferOptions): Promise<Placement>;

  /**
   * Moves a file or folder. Bytes, times, entity-tags and properties stay as they are. A link is moved as a link. If
   * several callers move one source, exactly one succeeds, and the others are `not-found`; if several move to one path
   * without `replace`, exactly one succeeds. A storage that cannot keep this says so. No failure loses the last copy of
   * anything. For adapters without a move of their own: `moveByCopying`. It tells versions by their strong entity-tags,
   * or without them by size and time: then `list`, `stat`, `read` and `write` give these with the same precision.
   *
   * Rejects as {@link copy} does.
   */
  move(from: string, to: string, options?: TransferOptions): Promise<Placement>;

  /**
   * Returns where the content at a path lies as it is, so that another server can send it in place of this storage.
   * Returns `undefined` if it lies nowhere like that, or if a symlink leads there. Does not look whether there is a
   * file. Absent: only `read` has the content, as in a wrapper that changes it.
   */
  locateContent?(path: string): Promise<ContentLocation | undefined>;

  /** Properties and times. Absent: the storage keeps none, and a change of one is `unsupported`. */
  readonly attributes?: StorageAttributes;

  /** Files that arrive in several requests. Absent: the service has no resumable uploads in this storage. */
  readonly uploads?: StorageUploads;
}

/** The entry and the bytes of one version of a file. */
export interface StoredFile {
  readonly entry: StorageEntry;
  readonly body: ReadableStream<Uint8Array>;
  /**
   * The same bytes in a form that is faster to read, if the storage has one: the bytes themselves, or a source. A
   * caller uses `source` or `body`, not both. Bytes need not be released.
   *
   * If there is a `source`, `body` may be a getter that creates the stream when it is first used. Code that passes the
   * file on must therefore pass this object, or both members by name.
   */
  readonly source?: Uint8Array | ByteSource;
}

/** Where the content at a path lies as it is, byte for byte. */
export interface ContentLocation {
  /** The storage that has it, which is no tree, folder or wrapper of another one. */
  readonly storage: StorageAdapter;
  /** The path in that storage. */
  readonly path: string;
  /** What the storage keeps its files in: a file is at the same path below the root, or an object at the same key. */
  readonly medium: "disk" | "bucket";
  /** Returns how many bytes still have room there; `undefined` if that is not known. Absent: any number. */
  readonly freeBytes?: () => Promise<number | undefined>;
}
