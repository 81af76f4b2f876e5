import type { FileferryError } from "../client/error.ts";
import type { PutOptions } from "../client/options.ts";
import type { Entry } from "../client/results.ts";

/** What is known of a folder's members. */
export interface FolderState {
  /**
   * The members in the order of the storage. Those of the first listing are here as they arrive. During a reload the
   * previous listing stays until the next one is complete.
   */
  readonly entries: readonly Entry[];
  /** Whether the folder is being listed, for the first time or by a reload. */
  readonly isLoading: boolean;
  /** Why the last listing failed, until one succeeds. */
  readonly error: FileferryError | undefined;
}

/** The members of a folder. */
export interface FolderListing extends FolderState {
  /**
   * Lists the folder that is shown again. The promise resolves when the listing has ended, whether or not it failed.
   * The function is always the same.
   */
  readonly reload: () => Promise<void>;
}

/** Settings of a list of uploads. */
export interface UploadListOptions {
  /** How many files are sent at the same time. The first rendering sets it. Default: 3. */
  readonly concurrency?: number | undefined;
}

/** Settings of the upload of some files. */
export interface UploadOptions {
  /** Replace existing files. Otherwise they are failures with the code `already-exists`. Default: false. */
  readonly overwrite?: boolean | undefined;
  /** Metadata by key, for the header that the client's option `metadataHeader` names. */
  readonly metadata?: PutOptions["metadata"];
}

/** Where an upload is. It has ended in one of the last three. */
export type UploadItemState = "waiting" | "uploading" | "done" | "failed" | "aborted";

/** The upload of one file. It is a new object after each change, with the same `id`. */
export interface UploadItem {
  /** Unique in its list. */
  readonly id: string;
  /** The name of the file. */
  readonly name: string;
  /** The path of the file in the account. */
  readonly path: string;
  readonly state: UploadItemState;
  /** The number of bytes sent. */
  readonly sent: number;
  /** The size of the file in bytes. */
  readonly total: number;
  /** Why the upload failed. */
  readonly error: FileferryError | undefined;
}

/** What can be done with uploads. The functions stay the same as long as the client does. */
export interface UploadActions {
  /** Uploads files into a folder. The promise resolves when all of them have ended, and never rejects. */
  readonly upload: (folder: string, files: Iterable<File>, options?: UploadOptions) => Promise<readonly UploadItem[]>;
  /** Aborts an upload that has not ended, or all of them. */
  readonly abort: (id?: string) => void;
  /**
   * Repeats an upload that has failed or was aborted; `overwrite` replaces the setting of `upload`. The promise
   * resolves when the upload has ended, and never rejects.
   */
  readonly retry: (id: string, options?: Pick<UploadOptions, "overwrite">) => Promise<void>;
  /** Removes an upload that has ended from the list, or all of them. */
  readonly clear: (id?: string) => void;
}

/** A list of uploads. */
export interface UploadList extends UploadActions {
  /** In the order in which they were added. */
  readonly uploads: readonly UploadItem[];
}
