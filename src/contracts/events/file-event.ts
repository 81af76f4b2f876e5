import type {
  FileRemoved,
  FileRemoveFailed,
  FolderAlreadyExists,
  FolderCreated,
  FolderCreateFailed,
  FolderRemoved,
  FolderRemoveFailed,
  TriggerRun,
} from "./folders.ts";
import type {
  AccessStarted,
  AuthenticationUrlSuspended,
  SessionClosed,
  SessionTimedOut,
  UnauthorizedRequest,
} from "./logins.ts";
import type { BadRequest, InternalError } from "./requests.ts";
import type {
  ArchiveDone,
  ArchiveFailed,
  ArchiveStarted,
  DownloadAborted,
  DownloadDone,
  DownloadFailed,
  FileOpened,
  FileOpenFailed,
  ListingDone,
  ListingFailed,
  ListingStarted,
  UploadDone,
  UploadFailed,
  UploadStarted,
} from "./transfers.ts";

/** Something that happened in the service (6, CONTRACT 8), told to the operator. Discriminated on `id`. */
export type FileEvent =
  | UnauthorizedRequest
  | FileOpened
  | ListingStarted
  | AccessStarted
  | FolderCreated
  | FolderCreateFailed
  | FileRemoved
  | FileRemoveFailed
  | ListingFailed
  | SessionTimedOut
  | ArchiveStarted
  | UploadDone
  | DownloadAborted
  | BadRequest
  | UploadStarted
  | UploadFailed
  | InternalError
  | ArchiveDone
  | FolderRemoved
  | FolderRemoveFailed
  | FolderAlreadyExists
  | ListingDone
  | FileOpenFailed
  | SessionClosed
  | DownloadDone
  | DownloadFailed
  | ArchiveFailed
  | AuthenticationUrlSuspended
  | TriggerRun;

/**
 * Gets every event as it happens. What it throws, or rejects with, is reported to the log and fails nothing. Nobody waits for a promise that it returns, but where the
 * runtime would end with the request it is kept running for it (`waitUntil` of the connection).
 */
export type OnEvent = (event: FileEvent) => unknown;

/** The events of a service as they happen, from the moment it was asked for. One reader. */
export interface EventStream extends AsyncIterableIterator<FileEvent> {
  /** How many events of each kind did not find room, as the reader was behind. */
  dropped(): Readonly<Partial<Record<FileEvent["id"], number>>>;
  /** Ends the stream; what it holds is dropped. */
  return(): Promise<IteratorResult<FileEvent>>;
}
