import type { EntityTags } from "./entity-tags.ts";
import type { QuotaLimit } from "./quota.ts";
import type { StorageEntry } from "./storage-entry.ts";

/**
 * Files that arrive in several requests. An upload is no file: nothing of it is listed, read or copied before it is
 * complete. Everything about it is in the storage, so any process that has the storage can continue it.
 *
 * Of one upload, `append`, `find`, `complete`, `discard` and `join` run one at a time. A later call takes over: the
 * running `append` stops, keeps what has arrived, and rejects with `locked`. One that still waits for its turn rejects
 * with `offset-mismatch`. If the running one does not stop within 10 seconds, the later call rejects with `locked`.
 * After that the stopped call changes nothing.
 *
 * If the folder of an upload that is not done is removed or moved, the upload is lost: for all methods except `list`
 * and `discard` it is as if it had never been created.
 *
 * All methods except `find`, `discard` and `list` reject with `not-found` if there is no such upload.
 */
export interface StorageUploads {
  /**
   * Creates an empty upload for a file at `path`. Checks the path and the conditions as `write` does, and rejects as it
   * does. Also rejects with `already-exists` if there is an upload with this key.
   */
  create(key: UploadKey, path: string, draft: UploadDraft): Promise<UploadState>;

  /**
   * Returns what is known of an upload, or `undefined` if there is none. The bytes up to `offset` survive a failure, as
   * the bytes of a completed write do, and `offset` is never less than it was before.
   */
  find(key: UploadKey): Promise<UploadState | undefined>;

  /**
   * Adds content at `offset`. Resolves when all of it is stored as safely as a completed write. If `content` throws or
   * the signal aborts, keeps what has arrived, and then rejects with that error. With `verify` it keeps all of the
   * content or nothing.
   *
   * Rejects with `offset-mismatch` if the upload has another offset or is complete, before it reads from `content`; and
   * with `too-large` and `no-space` as `write` does.
   */
  append(
    key: UploadKey,
    offset: number,
    content: AsyncIterable<Uint8Array>,
    options?: AppendOptions,
  ): Promise<UploadState>;

  /** Changes the members that `change` names. The others stay. */
  update(key: UploadKey, change: UploadChange): Promise<UploadState>;

  /**
   * Makes the upload the file at its path, completely or not at all, and with the conditions, as `write` does. Then the
   * upload is `done` and keeps no bytes. If it is done already, resolves with the same entry again.
   *
   * Rejects with `incomplete` if the upload has another offset than its size, and as `write` does. The upload stays.
   * For an upload with `isPartial`, it may reject with `unsupported`.
   */
  complete(key: UploadKey, options?: CompleteOptions): Promise<StorageEntry>;

  /**
   * Removes an upload and its bytes, never a file. Returns what it has removed, as it was at that moment: another
   * process may have completed the upload since the caller looked. Of several callers exactly one gets a result; the
   * others, and those of an unknown upload, get `undefined`.
   */
  discard(key: UploadKey): Promise<DiscardedUpload | undefined>;

  /**
   * Returns the uploads of one owner, or of all. It does not stop a running `append`, and its offsets may be older than
   * those of `find`. Uploads that are created or removed meanwhile may be missing or not.
   */
  list(owner?: string): AsyncIterable<UploadState>;

  /** Returns the bytes of an upload that is not done, from the first one on. Absent: the storage cannot do this. */
  read?(key: UploadKey): AsyncIterable<Uint8Array>;

  /**
   * Makes the content of several uploads, in this order, the file at `path`, completely or not at all, and rejects as
   * `write` does. The uploads stay, but a storage may refuse to add content to them (`unsupported`). An upload may be
   * named several times. Rejects with `denied` for uploads whose bytes another storage has. A storage may reject with
   * `unsupported` for uploads that were created without `isPartial`. Absent: the storage cannot do this.
   */
  join?(keys: readonly UploadKey[], path: string, options?: JoinOptions): Promise<StorageEntry>;
}

/** What `discard` has removed: an upload that was not complete, or the record of one that has become a file. */
export type DiscardedUpload = "unfinished" | "done";

/** The name of an upload. */
export interface UploadKey {
  /** Any text. A storage hides it: no name that it stores contains the text. */
  readonly owner: string;
  /** 32 lower-case hexadecimal digits. */
  readonly id: string;
}

/** Conditions on the file at the path, the signal of the caller and its limit. They are those of `WriteOptions`. */
export interface UploadConditions {
  readonly ifMatch?: EntityTags;
  readonly ifNoneMatch?: EntityTags;
  readonly signal?: AbortSignal;
  readonly quota?: QuotaLimit;
}

/** What a new upload begins with. The conditions are checked now, and again only if `complete` gets them. */
export interface UploadDraft extends UploadConditions {
  /** The number of bytes of the complete file, if it is known. */
  readonly size?: number;
  /** A text of the caller, at most 16 KiB in UTF-8. The storage keeps it and gives it no meaning. */
  readonly note: string;
  readonly expires: Date;
  /** The upload is only ever joined. A storage may then keep its bytes in another way, and never complete it. */
  readonly isPartial?: boolean;
  /** `complete` will name another path. Without this, a storage may reject such a completion with `unsupported`. */
  readonly isNamedLater?: boolean;
}

/** What a storage knows of an upload. */
export interface UploadState {
  readonly key: UploadKey;
  /** The path of the file to be. */
  readonly path: string;
  /** The number of bytes that are stored. */
  readonly offset: number;
  /** The number of bytes of the complete file, if it is known. */
  readonly size?: number;
  readonly note: string;
  readonly created: Date;
  /** When the last bytes were stored; `created` if there are none. */
  readonly modified: Date;
  /** A time of the caller. The storage removes nothing by itself. */
  readonly expires: Date;
  /** The file, if the upload is complete. */
  readonly done?: StorageEntry;
  /**
   * The upload is lost, and its bytes are gone. Only `list` returns it, until `discard` removes it. A storage may leave
   * lost uploads out.
   */
  readonly lost?: true;
}

/** New values of some members of an upload. */
export interface UploadChange extends Partial<Pick<UploadState, "size" | "note" | "expires">> {
  /** As in `WriteOptions`: a size that becomes known has to fit. */
  readonly quota?: QuotaLimit;
}

/** Options of an append. */
export interface AppendOptions {
  /** Aborts the append; its promise then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** At most this number of bytes; more content rejects with `too-large`, and the bytes within the limit are kept. */
  readonly limit?: number;
  /** Called after the last byte, before the content counts. If it throws, the append rejects with that error. */
  readonly verify?: () => Promise<void>;
  /** As in `WriteOptions`. */
  readonly owner?: string;
  readonly quota?: QuotaLimit;
}

/** Options and conditions of a completion. */
export interface CompleteOptions extends UploadConditions {
  /** Another name in the same folder. Default: the path of the upload. */
  readonly path?: string;
  /**
   * Called if an earlier call, or another process, has made the file: of several calls at the same moment one makes it.
   * A storage that does not know this never calls it.
   */
  readonly onRepeat?: () => void;
}

/** Options and conditions of a file that is joined of several uploads. */
export interface JoinOptions extends UploadConditions {
  /** The number of bytes. With any other sum of the uploads' bytes the call rejects with `incomplete`. */
  readonly size?: number;
  /** As in `WriteOptions`. */
  readonly owner?: string;
}
