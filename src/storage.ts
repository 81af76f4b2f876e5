/** What a storage adapter is written with: its contract, and the functions that make its results. */

export { type ByteSource, toByteSource, toByteStream } from "./contracts/byte-source.ts";
export { type MemberBatches, toMembers } from "./contracts/member-batches.ts";
export { compareNames } from "./contracts/member-names.ts";
export type { QuotaLimit } from "./contracts/quota.ts";
export type {
  ByteRange,
  ContentLocation,
  CreateFolderOptions,
  EntityTags,
  FolderOwner,
  ListOptions,
  Placement,
  RemoveOptions,
  StorageAdapter,
  StorageEntry,
  StorageErrorCode,
  StoredFile,
  TransferOptions,
  WriteOptions,
} from "./contracts/storage-adapter.ts";
export { isStorageError, StorageError } from "./contracts/storage-adapter.ts";
export type { AttributeChanges, Properties, StorageAttributes } from "./contracts/storage-attributes.ts";
export { toPathSegments } from "./contracts/storage-path.ts";
export type {
  AppendOptions,
  CompleteOptions,
  DiscardedUpload,
  JoinOptions,
  StorageUploads,
  UploadChange,
  UploadConditions,
  UploadDraft,
  UploadKey,
  UploadState,
} from "./contracts/storage-uploads.ts";
export { toStoredFile } from "./contracts/stored-file.ts";
export { copyByReading, moveByCopying } from "./storage/fallbacks.ts";
