import type { StorageEntry } from "../../../contracts/storage-entry.ts";
import type { UploadConditions } from "../../../contracts/storage-uploads.ts";
import type { ObjectLocation } from "../keys.ts";
import type { PartMemory } from "../part-memory.ts";
import type { Permits } from "../permits.ts";
import type { TextObjects } from "../text-objects.ts";
import type { JoinSource, SourceRange } from "./join-plan.ts";

/** A multipart upload that was created. */
export interface MultipartUpload {
  readonly key: string;
  readonly id: string;
}

/** A file that is to be stored. */
export interface NewFile {
  readonly location: ObjectLocation;
  /** The mark of its object, by which the upload recognizes it. */
  readonly mark: string;
  readonly conditions: UploadConditions;
}

/** The parts of a file, in their order, by their entity-tags. */
export interface FileParts {
  readonly upload: MultipartUpload;
  readonly tags: readonly string[];
  /** The number of bytes of all parts. */
  readonly size: number;
}

/** What the uploads of a storage need of its bucket. */
export interface UploadBucket extends TextObjects {
  /** Objects that only the storage sees, and of which files are made. */
  readonly objects: HiddenObjects;
  /** Prefix of all keys of the storage. */
  readonly prefix: string;
  /** Returns the current time in milliseconds since 1970. */
  readonly clock: () => number;
  /** Memory for parts and permits for their requests: those that writes share. */
  readonly memory: PartMemory;
  readonly permits: Permits;
  /** How many bytes of one upload may be on their way while the next part arrives. */
  readonly maxSentBytes: number;

  /** Returns the location of a path. @throws StorageError `bad-name` */
  locate(path: string): ObjectLocation;
  /** Checks that a file may be stored at a location, as a write does. */
  checkTarget(location: ObjectLocation, conditions: UploadConditions): Promise<void>;
  /**
   * Returns what identifies a folder, the empty text if it has no marker, and `undefined` if there is no such folder. A
   * folder that is removed and created again has another text.
   */
  identifyFolder(folder: string): Promise<string | undefined>;

  /**
   * Returns the size of the first parts of a file, for {@link UploadBucket.bytesOf}.
   * @throws StorageError `too-large` for a size beyond the limits.
   */
  toPartBytes(size: number | undefined): number;
  /** Returns the size of a part, numbered from 1. @throws StorageError `too-large` for a part beyond the limits. */
  bytesOf(partBytes: number, number: number): number;

  /** Begins a multipart upload. Its object will have the mark. */
  begin(key: string, mark: string): Promise<MultipartUpload>;
  /** Sends a part, and returns its entity-tag. @throws StorageError `not-found` if the upload is unknown. */
  sendPart(upload: MultipartUpload, number: number, bytes: Uint8Array<ArrayBuffer>): Promise<string>;
  /** Whether the bucket still has a multipart upload. A bucket that does not know says that it has. */
  hasUpload(upload: MultipartUpload): Promise<boolean>;
  /** Ends a multipart upload and frees its parts. If it is unknown, there is nothing to do. */
  abort(upload: MultipartUpload): Promise<void>;
  /**
   * Makes the parts a file.
   * @throws StorageError `not-found` if the upload is unknown, or a part is not the one with the tag; and as a write
   */
  complete(file: NewFile, parts: FileParts): Promise<StorageEntry>;
  /** Stores a file with one request, and exact conditions if the bucket has them. */
  putFile(file: NewFile, bytes: Uint8Array<ArrayBuffer>): Promise<StorageEntry>;
  /** Returns the entry of the file at a location if it has this mark. */
  findMarked(location: ObjectLocation, mark: string): Promise<StorageEntry | undefined>;

  /** Stores bytes as an object that only the storage sees. */
  putBytes(key: string, bytes: Uint8Array<ArrayBuffer>): Promise<void>;
  /** Yields the bytes of such an object. */
  readBytes(key: string): AsyncIterable<Uint8Array>;
  /** Removes objects. Those that do not exist are no error. */
  removeObjects(keys: readonly string[]): Promise<void>;
  /** Yields all keys that begin with a prefix, in pages. */
  listKeys(prefix: string): AsyncIterable<readonly string[]>;
}

/** How a bucket makes objects that only the storage sees, and files of them. */
export interface HiddenObjects {
  /** The smallest size of all parts but the last. */
  readonly minPartBytes: number;
  /** Absent: the bucket copies nothing, so bytes are read and sent again. */
  readonly copies?: PartCopies;
  /**
   * Makes the parts an object that only the storage sees.
   * @throws StorageError `not-found` if the upload is unknown, or a part is not the one with the tag
   */
  completeObject(upload: MultipartUpload, mark: string, tags: readonly string[]): Promise<void>;
  /** Returns such an object if it has this mark. */
  findObject(key: string, mark: string): Promise<JoinSource | undefined>;
  /** Yields some bytes of an object. */
  readRange(range: SourceRange): AsyncIterable<Uint8Array>;
  /** Frees a multipart upload whose parts may still be arriving. Never rejects. */
  free(upload: MultipartUpload): Promise<void>;
}

/** How a bucket copies objects into parts. */
export interface PartCopies {
  /** The usual size of the largest parts. */
  readonly maxCopyBytes: number;
  /**
   * Copies some bytes of an object into a part, and returns its entity-tag.
   * @throws StorageError `not-found` if the upload is unknown.
   */
  copyPart(upload: MultipartUpload, number: number, range: SourceRange, signal?: AbortSignal): Promise<string>;
}
