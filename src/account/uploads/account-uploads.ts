import type { StorageEntry } from "../../contracts/storage-adapter.ts";
import type { CompleteOptions, DiscardedUpload, UploadState } from "../../contracts/storage-uploads.ts";
import type { UploadNote } from "./upload-note.ts";

/** An upload of an account. */
export interface AccountUpload {
  readonly id: string;
  readonly state: UploadState;
  readonly note: UploadNote;
}

/** What a new upload starts with. */
export interface NewUpload {
  readonly size?: number;
  readonly expires: Date;
  readonly signal?: AbortSignal;
  /** Its path is that of the file; for a partial upload that of the folder. It has the conditions. */
  readonly note: UploadNote;
  /** Where {@link AccountUploads.join} makes the file. Default: the path of the note. */
  readonly path?: readonly string[];
}

/** Options of a completion. */
export interface CompleteUploadOptions extends Pick<CompleteOptions, "signal" | "onRepeat"> {
  /** The path of the file, for an upload that is named later. It is in the folder of the upload. */
  readonly path?: readonly string[];
}

/** New values of some members of an upload. */
export interface AccountUploadChange {
  readonly size?: number;
  readonly expires?: Date;
  readonly note?: UploadNote;
}

/** Options of an append. */
export interface AppendUploadOptions {
  readonly signal?: AbortSignal;
  /** The announced number of bytes. */
  readonly announced?: number | undefined;
  /** See `AppendOptions`. */
  readonly verify?: () => Promise<void>;
}

/**
 * The resumable uploads of one account. No other account sees them, and an API key that is for less than its account
 * sees those that it has created. Creation, appends and completion need `write` at the path of the file, at that time,
 * and the path has to mean the same path of the storage as at creation; otherwise they throw HttpError `denied`. Of a
 * partial upload, `write` may be granted anywhere. Reading what is known of an upload, and ending it, needs no
 * permission. Other errors are those of `StorageUploads`.
 */
export interface AccountUploads {
  /** Whether uploads can be read before they are complete. */
  readonly canRead: boolean;
  /** Whether uploads can be joined. */
  readonly canJoin: boolean;
  /** Throws HttpError `denied` unless the account may create an upload with this note. */
  checkPermission(note: UploadNote): Promise<void>;
  /**
   * Creates an upload. Throws HttpError `too-large` for a size above the account's limit, and `method-not-implemented`
   * if the storage at the path has no uploads.
   */
  create(upload: NewUpload): Promise<AccountUpload>;
  /** Returns an upload; `undefined` if there is none. Takes over from a running append. */
  find(id: string): Promise<AccountUpload | undefined>;
  /** Returns an upload without taking it over from another request: the offset may be old. */
  peek(id: string): Promise<AccountUpload | undefined>;
  /** Returns the uploads, as {@link AccountUploads.peek} does each. */
  list(): AsyncIterable<AccountUpload>;
  /** As {@link AccountUploads.list}, of the whole account: they count against its limits. */
  listCounted(): AsyncIterable<AccountUpload>;
  /**
   * Adds content at the offset of `upload.state`. Throws HttpError `too-large` when the file exceeds the account's
   * limit.
   */
  append(
    upload: AccountUpload,
    content: AsyncIterable<Uint8Array>,
    options?: AppendUploadOptions,
  ): Promise<AccountUpload>;
  /** Changes the members that `change` names. */
  update(upload: AccountUpload, change: AccountUploadChange): Promise<AccountUpload>;
  /** Throws HttpError `denied` or `too-large` as a completion does, without changing anything. */
  checkCompletion(upload: AccountUpload): Promise<void>;
  /** Turns an upload into its file, under the conditions of its note. */
  complete(upload: AccountUpload, options?: CompleteUploadOptions): Promise<StorageEntry>;
  /** Removes an upload, never a file. Returns what this call has removed, if anything. */
  discard(id: string): Promise<DiscardedUpload | undefined>;
  /** Returns the bytes of an upload, if {@link AccountUploads.canRead}. */
  read(upload: AccountUpload): AsyncIterable<Uint8Array>;
  /** Throws HttpError `denied` unless the account may add to an upload. */
  checkAccess(upload: AccountUpload): Promise<void>;
  /**
   * Joins partial uploads into one file, in this order. Returns the new upload with a note of this file; the caller
   * creates it.
   */
  join(parts: readonly AccountUpload[], upload: NewUpload): Promise<NewUpload>;
}

/** The owner of an account's uploads, by the account's name. */
export function toUploadOwner(name: string): string {
  return `account:${name}`;
}

/** The name that {@link toUploadOwner} got; `undefined` for other owners. */
export function parseUploadOwner(owner: string): string | undefined {
  return /^account:(.*)$/s.exec(owner)?.[1];
}
