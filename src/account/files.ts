import type {
  ByteRange,
  ContentLocation,
  RemoveOptions,
  StorageEntry,
  StoredFile,
  WriteOptions,
} from "../contracts/storage-adapter.ts";
import type { AccountTrash } from "./account-trash.ts";
import type { FileTransfers } from "./copy-and-move.ts";
import type { FileAttributes } from "./file-attributes.ts";
import type { FileVersions } from "./file-versions.ts";
import type { FolderListings } from "./folder-listings.ts";
import type { AccountLocks } from "./locks/account-locks.ts";
import type { AccountUploads } from "./uploads/account-uploads.ts";

/**
 * The kind of thing that a removal expects. Anything else is `not-found`, and is not removed even if it replaces the
 * expected one at the same moment. `empty-folder` is for hosts of protocols without recursive removal: a folder with
 * members is not removed, and is HttpError `unprocessable`. A member that is created at the same moment is removed
 * together with the folder.
 */
export type RemovalKind = "file" | "folder" | "empty-folder" | "any";

/** An operation that applies to files only. */
export type FileOperation = "read" | "write" | "delete-file";

/**
 * The files and folders of one account. Endpoints reach the storage only through this interface, so that permissions
 * are checked in one place (SECURITY 19). Paths are segments below the account's root.
 *
 * If a permission is missing, a method throws HttpError `denied` before it does anything. The reserved name does not
 * exist, and links exist only for {@link AccountFiles.remove} (CONTRACT 2.8).
 */
export interface AccountFiles extends FolderListings, FileTransfers, FileAttributes, AccountLocks {
  /** Returns the storage's path for a path of the account. Only operators may see it. */
  realPathOf(segments: readonly string[]): string;
  /**
   * Returns what is at a path, without a check of permissions: names are no secret, as listings contain members that
   * the account may not access (CONTRACT 7.4).
   */
  kindOf(segments: readonly string[]): Promise<"file" | "folder" | undefined>;
  /** Returns whether a name is taken, also by a symlink. Checks no permission. */
  isTaken(segments: readonly string[]): Promise<boolean>;
  /** Returns whether the account may read a file at a path, by its permissions alone. */
  mayRead(segments: readonly string[]): Promise<boolean>;
  /**
   * Returns the file at a path, or for `delete-folder` the folder, if the account may do `operation`; `undefined` if
   * there is none. If there is a folder instead of a file, throws `not-a-file`, even without permission.
   */
  stat(segments: readonly string[], operation: FileOperation | "delete-folder"): Promise<StorageEntry | undefined>;
  /** Opens a file. Throws `not-a-file` for a folder, even without permission. */
  read(segments: readonly string[], range?: ByteRange): Promise<StoredFile>;
  /** Returns where the content at a path lies as it is (`StorageAdapter.locateContent`). Checks no permission. */
  locateContent(segments: readonly string[]): Promise<ContentLocation | undefined>;
  /**
   * Writes a file. If the content exceeds the account's size limit, throws HttpError `too-large`: before it reads the
   * content if the announced size is too large, otherwise as soon as the limit is exceeded. Other errors are the
   * storage's.
   */
  write(segments: readonly string[], content: AsyncIterable<Uint8Array>, options?: WriteOptions): Promise<StorageEntry>;
  /** Creates a folder. Throws the errors of the storage. */
  createFolder(segments: readonly string[]): Promise<void>;
  /** Creates a folder unless it exists. Returns whether it was created. */
  createFolderIfMissing(segments: readonly string[]): Promise<boolean>;
  /**
   * Removes a file or symlink, or a folder with everything in it. A folder is removed only if the account may remove
   * everything in it (CONTRACT 4.4). The account's root and the roots of virtual folders are `denied`. Folders have no
   * entity-tag: a folder with `ifMatch` is `precondition-failed`.
   */
  remove(segments: readonly string[], kind: RemovalKind, options?: Omit<RemoveOptions, "kind">): Promise<void>;
  /** Resumable uploads. Absent: the storage has none. */
  readonly uploads?: AccountUploads;
  /** Absent: the service has no trash, or the files are those of a link or of a visitor without a login. */
  readonly trash?: AccountTrash;
  /** Absent: the service has no versions, or the files are those of a link or of a visitor without a login. */
  readonly versions?: FileVersions;
}

/** The files of an account without locks, which `withLocks` adds. */
export type FilesWithoutLocks = Omit<AccountFiles, keyof AccountLocks>;
