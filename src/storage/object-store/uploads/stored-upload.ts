import type { StorageEntry } from "../../../contracts/storage-entry.ts";
import type { UploadKey, UploadState } from "../../../contracts/storage-uploads.ts";
import type { MultipartUpload, UploadBucket } from "./bucket.ts";

/** What the object of an upload says. */
export interface StoredUpload {
  readonly key: UploadKey;
  readonly path: string;
  readonly size?: number;
  readonly note: string;
  /** Times in milliseconds since 1970. */
  readonly created: number;
  readonly modified: number;
  readonly expires: number;
  /** What identifies the folder of the file to be. */
  readonly folder: string;
  /** The mark that the file will have. */
  readonly mark: string;
  /** The upload is only ever joined. Its parts belong to an object of its own, not to a file. */
  readonly isPartial?: true;
  /** The completion names the file. Until then its parts belong to an object of its own. */
  readonly isNamedLater?: true;
  /** That object is being made, with the tail as its last part. Nothing can be added any more. */
  readonly isWhole?: true;
  /** Parts of joined files. They are freed with this upload, unless the files have them. */
  readonly joining?: readonly MultipartUpload[];
  /** The parts that count, in their order. They come first. */
  readonly parts?: StoredParts;
  /** The bytes after the last part: less than a part. */
  readonly tail?: StoredTail;
  /** An append is running, or was not able to say that it ended. */
  readonly isOpen?: true;
  /** The path of the file, once a completion has started. */
  readonly target?: string;
  readonly done?: Omit<StorageEntry, "modified"> & { readonly modified: number };
  /** A completion has noted that it made the file. Any other one repeats it. */
  readonly isMade?: true;
  /** The folder or the parts of the upload are gone. Its bytes may still have to be removed. */
  readonly isLost?: true;
  /** The upload was removed. What it consists of may still have to be. */
  readonly isRemoved?: true;
}

/** The parts of an upload, which are a multipart upload of the bucket. */
export interface StoredParts {
  readonly id: string;
  /** The size of the first parts. The others follow from it (`UploadBucket.bytesOf`). */
  readonly partBytes: number;
  /** Entity-tags. */
  readonly tags: readonly string[];
}

/** An object with the bytes after the last part. */
export interface StoredTail {
  readonly key: string;
  readonly bytes: number;
}

/** Whether the parts of an upload belong to an object of its own. */
export function isNameless({ isPartial, isNamedLater }: StoredUpload): boolean {
  return isPartial === true || isNamedLater === true;
}

/** The number of parts that count. */
export function toPartCount({ parts }: StoredUpload): number {
  return parts?.tags.length ?? 0;
}

function toPartsBytes(upload: StoredUpload, { bytesOf }: Pick<UploadBucket, "bytesOf">): number {
  let bytes = 0;
  for (let number = 1; number <= toPartCount(upload); number += 1) {
    bytes += bytesOf(upload.parts?.partBytes ?? 0, number);
  }
  return bytes;
}

/** The number of bytes of an upload that count. */
export function toOffset(upload: StoredUpload, bucket: Pick<UploadBucket, "bytesOf">): number {
  return upload.done?.size ?? toPartsBytes(upload, bucket) + (upload.tail?.bytes ?? 0);
}

/** The entry of the file that an upload has become. */
export function toDoneEntry({ done }: StoredUpload): StorageEntry | undefined {
  return done && { ...done, modified: new Date(done.modified) };
}

/** An upload that has become a file: it keeps no bytes. */
export function toDone(upload: StoredUpload, entry: StorageEntry): StoredUpload {
  const { parts: _, tail: __, isOpen: ___, target: ____, ...kept } = upload;
  return { ...kept, done: { ...entry, modified: entry.modified.getTime() } };
}

/** An upload without a running append. */
export function toClosed(upload: StoredUpload): StoredUpload {
  const { isOpen: _, ...closed } = upload;
  return closed;
}

/** What callers get to know of an upload. */
export function toUploadState(upload: StoredUpload, bucket: Pick<UploadBucket, "bytesOf">): UploadState {
  const { key, path, size, note, created, modified, expires } = upload;
  const done = toDoneEntry(upload);
  return {
    key,
    path,
    offset: toOffset(upload, bucket),
    ...(size !== undefined && { size }),
    note,
    created: new Date(created),
    modified: new Date(modified),
    expires: new Date(expires),
    ...(done && { done }),
    ...(upload.isLost && { lost: true }),
  };
}
