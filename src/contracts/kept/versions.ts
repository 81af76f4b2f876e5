import type { ByteRange, StorageEntry, StoredFile, WriteOptions } from "../storage-adapter.ts";
import type { SweepOptions } from "./sweep-options.ts";

/** An earlier content of a file. */
export interface FileVersion {
  /** The time at which it was replaced, and 64 random bits. No two versions have the same. */
  readonly id: string;
  /** The time of the file when it had this content. Storages that copy by themselves may give the time of the copy. */
  readonly modified: Date;
  /** Bytes. */
  readonly size: number;
  /** The entity-tag of this content as `read` returns it, with its quotes. It is not the tag that the file had. */
  readonly etag?: string;
}

/** What the versions of a storage report: versions that should go by themselves could not be removed. */
export interface VersionsFailure {
  /** The canonical path in the storage of the file or folder whose versions they are. */
  readonly path: string;
  readonly error: unknown;
}

/** The options of a restoration. They are those of the write that makes it. */
export type VersionRestoreOptions = Pick<WriteOptions, "ifMatch" | "ifNoneMatch" | "signal" | "owner" | "quota">;

/** The versions of the files of a storage. All paths are canonical paths in the storage. */
export interface Versions {
  /**
   * Returns the versions of a file, the newest first, without the present content. Nothing for a folder, and for a path
   * without versions.
   */
  list(path: string): AsyncIterable<FileVersion>;
  /** Returns one version, or `undefined` if the file has none with this ID. */
  find(path: string, id: string): Promise<FileVersion | undefined>;
  /**
   * Returns the content of a version, or a part of it. The name of its entry is the ID.
   *
   * Rejects with `not-found` if the file has no such version.
   */
  read(path: string, id: string, range?: ByteRange): Promise<StoredFile>;
  /**
   * Writes the content of a version to the file again, and returns the entry of the file. The present content becomes a
   * version, and the restored one stays.
   *
   * Rejects with `not-found` if the file has no such version, and as `write` of the storage does.
   */
  restore(path: string, id: string, options?: VersionRestoreOptions): Promise<StorageEntry>;
  /** Removes a version for good. Of several callers exactly one gets `true`, if the storage can distinguish them. */
  purge(path: string, id: string): Promise<boolean>;
  /**
   * Removes for good what is too old or too much, and ends what a crash has left. Returns the number of versions that
   * it has removed. Several processes may call it at the same time.
   */
  sweep(options?: SweepOptions): Promise<number>;
  /**
   * Calls a function after each write, copy, move or upload that could not remove the versions that have become too
   * many. The file was replaced all the same. What the function throws is ignored. Returns its end.
   */
  watch(listener: (failure: VersionsFailure) => void): () => void;
}
