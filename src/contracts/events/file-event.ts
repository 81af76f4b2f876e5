import type { KeyCreated, KeyRevoked } from "./api-keys.ts";
import type { MemberCopied, MemberCopyFailed, MemberMoved, MemberMoveFailed } from "./copies-and-moves.ts";
import type {
  AttributesChanged,
  AttributesChangeFailed,
  FileRemoved,
  FileRemoveFailed,
  FolderAlreadyExists,
  FolderCreated,
  FolderCreateFailed,
  FolderRemoved,
  FolderRemoveFailed,
  Locked,
  LockFailed,
  TriggerRun,
  Unlocked,
} from "./folders.ts";
import type { LinkCreated, LinkRefused, LinkWithdrawn } from "./links.ts";
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
import type { TrashPurged, TrashRestored } from "./trash.ts";
import type { VersionPurged } from "./versions.ts";

/**
 * Something that happened in the service (6, CONTRACT 8), for the operator. The member `id` says which event it is.
 */
export type FileEvent =
  | UnauthorizedRequest
  | KeyCreated
  | KeyRevoked
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
  | TriggerRun
  | MemberMoved
  | MemberMoveFailed
  | MemberCopied
  | MemberCopyFailed
  | Locked
  | LockFailed
  | Unlocked
  | AttributesChanged
  | AttributesChangeFailed
  | LinkCreated
  | LinkWithdrawn
  | LinkRefused
  | TrashRestored
  | TrashPurged
  | VersionPurged;

/**
 * Gets every event when it happens. If it throws or rejects, the error is logged and nothing else fails. The service
 * does not wait for a promise that it returns. A runtime that stops at the end of a request is kept running for it
 * (`waitUntil` of the connection).
 */
export type OnEvent = (event: FileEvent) => unknown;

/** The events of a service, from the call of `events` on. A stream has one reader. */
export interface EventStream extends AsyncIterableIterator<FileEvent> {
  /** The number of events of each kind that were dropped because the reader was too slow. */
  dropped(): Readonly<Partial<Record<FileEvent["id"], number>>>;
  /** Ends the stream and drops the events in it. */
  return(): Promise<IteratorResult<FileEvent>>;
}
