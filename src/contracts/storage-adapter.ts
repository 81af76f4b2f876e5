import type { ByteSource } from "./byte-source.ts";

/**
 * The storage contract: six verbs over one tree of files and folders.
 *
 * Paths are absolute and canonical: decoded, `/`-separated, without an empty segment, `.` or `..`, and
 * without a trailing `/`; the root is `/`. Callers pass nothing else; an adapter that meets anything else
 * throws `TypeError`. Names are kept code unit for code unit: never trimmed, folded or normalised.
 *
 * Every rejection that a client may be told about is a {@link StorageError}; anything else is taken for a
 * defect and answered blankly.
 */
export interface StorageAdapter {
  /**
   * The entry at a path, or `undefined` when nothing is there, also when a parent is missing, a file or a
   * link. A link is reported as a link, never as its target.
   */
  stat(path: string): Promise<StorageEntry | undefined>;

  /**
   * The members of a folder in the storage's own order, each once, without holding them all. Members that
   * come or go meanwhile may be in it or not; they never make it fail. What also has `batches` is listed faster
   * (`member-batches.ts`).
   *
   * Throws at the first step: `not-found` where nothing is there, `not-a-folder` on a file or a link.
   */
  list(path: string): AsyncIterable<StorageEntry>;

  /**
   * A file's content, whole or the part that `range` names, with the entry of exactly that version: a writer
   * that finishes later changes neither. The caller reads `body` to its end or cancels it; both release
   * whatever it holds. A body that cannot be delivered whole fails, it never ends early.
   *
   * Rejects with `not-found`, or `not-a-file` on a folder. A link is `not-found`.
   */
  read(path: string, range?: ByteRange): Promise<StoredFile>;

  /**
   * Stores `content` as the file at `path`, all of it or nothing: until the returned promise resolves every
   * reader sees what was there before, and whatever makes it reject leaves just that and no residue. Of
   * several writers of one path each leaves a whole file; the last to finish wins.
   *
   * Conditions and places are checked before the first chunk is taken from `content`, and the conditions
   * again at the moment of the exchange, as one step with it where the storage can.
   *
   * Rejects with `parent-missing`, `not-a-folder` (a parent is a file), `not-a-file` (a folder is there),
   * `precondition-failed`, `no-space`, `too-large`, with {@link StorageError} `incomplete` when `content` ends before or
   * goes on after `size` bytes, with the signal's reason when it aborts, and with the error that `content` throws.
   * A link is replaced, never followed.
   */
  write(path: string, content: AsyncIterable<Uint8Array>, options?: WriteOptions): Promise<StorageEntry>;

  /**
   * Makes an empty folder. Of several makers of one path exactly one succeeds.
   *
   * Rejects with `denied` where the storage has no such owner, before it looks at the place, or may not give a folder to it; then nothing
   * is made. Else with `already-exists` (whatever is there), `parent-missing`, `not-a-folder` (a parent is a file).
   */
  createFolder(path: string, options?: CreateFolderOptions): Promise<void>;

  /**
   * Removes a file, a link (never its target), or a folder with everything under it. Not atomic for a folder:
   * a failure midway leaves the rest in place. Members that vanish meanwhile are no failure.
   *
   * Rejects with `not-found`, also where what is there is not of the kind demanded, with `denied` for the root, and with `precondition-failed`
   * where it is not the file that the condition names. Both are judged as one step with the removal where the storage can, the kind first. Where a file
   * is demanded, a folder that takes its place at that very moment is never removed, nor a file in place of a folder.
   */
  remove(path: string, options?: RemoveOptions): Promise<void>;
}

/** One member of a folder, or the root (whose name is the empty text). */
export interface StorageEntry {
  readonly name: string;
  readonly kind: "file" | "folder" | "link";
  /** Bytes; 0 for folders and links. */
  readonly size: number;
  readonly modified: Date;
  /**
   * Entity-tag with its quotes (RFC 9110 8.8.3), `W/` before a weak one. Files only. Two entries of one path with equal strong
   * tags have equal bytes.
   */
  readonly etag?: string;
}

/** A part of a file, counted in bytes. What lies beyond the end is left out. */
export interface ByteRange {
  readonly offset: number;
  readonly length: number;
}

/** A file's entry and bytes, of one and the same version. */
export interface StoredFile {
  readonly entry: StorageEntry;
  readonly body: ReadableStream<Uint8Array>;
  /**
   * The same bytes by a shorter way, where the storage has one: at once, or as a source. Who takes `source` leaves `body` alone; bytes
   * need no release. With it `body` may be a getter that makes the stream when it is first asked for, so that nothing is made in vain:
   * whoever passes the file on passes this object on, or both by name.
   */
  readonly source?: Uint8Array | ByteSource;
}

/** What a write promises and demands. */
export interface WriteOptions {
  /** The bytes announced; any other number rejects with `incomplete`. */
  readonly size?: number;
  /** Only onto a file with one of these strong entity-tags, or with `"*"` onto any file (RFC 9110 13.1.1). */
  readonly ifMatch?: EntityTags;
  /** Only when no file with one of these entity-tags is there (weak comparison), or with `"*"` no file at all (RFC 9110 13.1.2). */
  readonly ifNoneMatch?: EntityTags;
  /** Ends the write; the promise rejects with its reason. */
  readonly signal?: AbortSignal;
}

/** What a new folder is to be. */
export interface CreateFolderOptions {
  /** Default: the process's own. */
  readonly owner?: FolderOwner;
}

/** What a removal demands. */
export interface RemoveOptions {
  /**
   * Only what `stat` says is of this kind. What it calls a link counts as a file; a link that stands for its target counts as that, and is
   * what goes. Default: whatever is there.
   */
  readonly kind?: "file" | "folder";
  /** Only a file with one of these strong entity-tags (RFC 9110 13.1.1). */
  readonly ifMatch?: EntityTags;
}

/** Account and group of the operating system, by name or number, that own a folder. */
export interface FolderOwner {
  readonly user?: string;
  readonly group?: string;
}

/** The value of `If-Match` or `If-None-Match`: any, or a list of entity-tags with their quotes. */
export type EntityTags = "*" | readonly string[];

/** Why a storage refused. */
export type StorageErrorCode =
  | "not-found"
  | "already-exists"
  | "parent-missing"
  | "not-a-folder"
  | "not-a-file"
  | "precondition-failed"
  /** The storage cannot keep this name: too long, or not of its alphabet. */
  | "bad-name"
  /** The content did not have the announced size. */
  | "incomplete"
  /** The storage's own permissions forbid it. */
  | "denied"
  | "no-space"
  | "too-large"
  /** The storage failed for now: a retry may help. */
  | "unavailable";

/**
 * A refusal with a cause that a client may be told. The message is for the log: it may name paths and system
 * errors, and never reaches a client.
 */
export class StorageError extends Error {
  readonly code: StorageErrorCode;

  constructor(code: StorageErrorCode, message: string = code, options?: ErrorOptions) {
    super(message, options);
    this.name = "StorageError";
    this.code = code;
  }
}

/** Whether a thrown value is a {@link StorageError}, also one from another copy of this package. */
export function isStorageError(error: unknown): error is StorageError {
  return error instanceof Error && error.name === "StorageError" && "code" in error;
}
