export type { AccountTrash, AccountTrashEntry } from "./account/account-trash.ts";
export type { FileTransferOptions, FileTransfers } from "./account/copy-and-move.ts";
export { type ExplainedAccount, explainPermission } from "./account/explain.ts";
export type { FileAttributes, InspectedEntry } from "./account/file-attributes.ts";
export type { FileVersions } from "./account/file-versions.ts";
export type { AccountFiles, FileOperation, RemovalKind } from "./account/files.ts";
export type { AccountLock, AccountLocks, NewLock } from "./account/locks/account-locks.ts";
export type { ResourcePath } from "./account/path.ts";
export type { Explanation } from "./account/permissions.ts";
export type {
  AccountUpload,
  AccountUploadChange,
  AccountUploads,
  AppendUploadOptions,
  CompleteUploadOptions,
  NewUpload,
} from "./account/uploads/account-uploads.ts";
export type { UploadLink, UploadNote } from "./account/uploads/upload-note.ts";
export { type AccountEntry, type AccountsOptions, createAccountsAuthenticator } from "./auth/accounts/accounts.ts";
export {
  type AuthenticationChain,
  type AuthenticationChainOptions,
  type ChainVerdict,
  createAuthenticationChain,
} from "./auth/chain.ts";
export type { ChainKey, ChainKeys, KeyOwner } from "./auth/keys/chain-keys.ts";
export { type CreatedApiKey, createApiKey, type NewApiKey } from "./auth/keys/create-api-key.ts";
export {
  type Argon2Parameters,
  createPasswordHasher,
  type KeyDerivation,
  type PasswordHasher,
  type PasswordHasherOptions,
  type ScryptParameters,
} from "./auth/passwords/hash.ts";
export { type CreatedTotp, createTotp, type TotpNames } from "./auth/second-factor/create-totp.ts";
export type { DigestOptions } from "./config/digests.ts";
export type { IdempotencyOptions } from "./config/idempotency.ts";
export type { LimitOptions } from "./config/limits.ts";
export type { LinkOptions } from "./config/links.ts";
export type { ApacheOffload, NginxOffload, OffloadOptions, PresignedOffload } from "./config/offload.ts";
export type { FileServiceOptions } from "./config/options.ts";
export type { SessionCookieOptions } from "./config/session-cookie.ts";
export type { ResumableUploadOptions } from "./config/uploads.ts";
export { VERSION } from "./config/version.ts";
export type { WebdavOptions } from "./config/webdav.ts";
export {
  type AccountSettings,
  type GroupSettings,
  OPERATIONS,
  type Operation,
  PERMISSION_VALUES,
  type PermissionValue,
} from "./contracts/account.ts";
export {
  type AccountKeys,
  type ApiKey,
  type FoundKey,
  KEY_PERMISSIONS,
  type KeyPermission,
} from "./contracts/api-keys.ts";
export type { AtomicKeyValueStore } from "./contracts/atomic-store.ts";
export type {
  Accepted,
  AccountLookup,
  Authenticator,
  Credentials,
  CredentialType,
  PasswordAccepted,
  PasswordUpdatability,
  PasswordUpdate,
  PasswordUpdateOutcome,
  Rejected,
  RejectionReason,
  Unknown,
  Verdict,
} from "./contracts/authenticator.ts";
export type { ByteSource } from "./contracts/byte-source.ts";
export {
  type ClientCertificate,
  type Component,
  type Connection,
  NIL_UUID,
  type Peer,
  type Trace,
} from "./contracts/connection.ts";
export type { Presign, PresignRequest } from "./contracts/downloads/presign.ts";
export type { KeyCreated, KeyRevoked } from "./contracts/events/api-keys.ts";
export type {
  MemberCopied,
  MemberCopyFailed,
  MemberMoved,
  MemberMoveFailed,
  Replaced,
  TwoLocations,
} from "./contracts/events/copies-and-moves.ts";
export type { EventEnvelope, EventKey, EventLink, FileLocation, LeftOut, Reason } from "./contracts/events/envelope.ts";
export type { EventStream, FileEvent, OnEvent } from "./contracts/events/file-event.ts";
export type {
  AttributesChanged,
  AttributesChangeFailed,
  FileRemoved,
  FileRemoveFailed,
  FolderAlreadyExists,
  FolderCreated,
  FolderCreateFailed,
  FolderRemoved,
  FolderRemoveFailed,
  LockDetails,
  Locked,
  LockFailed,
  TriggerRun,
  Unlocked,
} from "./contracts/events/folders.ts";
export {
  LINK_REFUSALS,
  type LinkCreated,
  type LinkRefusal,
  type LinkRefused,
  type LinkWithdrawn,
} from "./contracts/events/links.ts";
export type {
  AccessStarted,
  AuthenticationUrlSuspended,
  LoginData,
  LoginType,
  MethodVerdict,
  RefusalReason,
  SessionClosed,
  SessionData,
  SessionTimedOut,
  UnauthorizedRequest,
} from "./contracts/events/logins.ts";
export type { BadRequest, InternalError, RequestData } from "./contracts/events/requests.ts";
export type {
  ArchiveDone,
  ArchiveFailed,
  ArchiveStarted,
  DownloadAborted,
  DownloadData,
  DownloadDone,
  DownloadFailed,
  FileOpened,
  FileOpenFailed,
  HandedOver,
  ListingDone,
  ListingFailed,
  ListingStarted,
  Metadata,
  ReadTotals,
  Scanned,
  ScanResult,
  UploadData,
  UploadDone,
  UploadFailed,
  UploadStarted,
  WriteTotals,
} from "./contracts/events/transfers.ts";
export type { TrashId, TrashPurged, TrashRestored } from "./contracts/events/trash.ts";
export type { VersionId, VersionPurged } from "./contracts/events/versions.ts";
export type { EventStreamOptions, FileService, RequestHandler } from "./contracts/file-service.ts";
export type { HostSessions, Identify, Identity, StartedSession } from "./contracts/identity.ts";
export type { RetentionRule } from "./contracts/kept/retention.ts";
export type { SweepOptions } from "./contracts/kept/sweep-options.ts";
export type { RestoreOptions, Trash, TrashEntry, TrashMember, TrashPurge } from "./contracts/kept/trash.ts";
export type { FileVersion, VersionRestoreOptions, Versions, VersionsFailure } from "./contracts/kept/versions.ts";
export type { KeyValueStore } from "./contracts/key-value-store.ts";
export { LINK_PERMISSIONS, type Link, type LinkPermission, type Links, type NewLink } from "./contracts/links.ts";
export type { LockDepth, LockScope } from "./contracts/lock.ts";
export type { Logger } from "./contracts/logger.ts";
export type { MemberBatches } from "./contracts/member-batches.ts";
export { OptionError } from "./contracts/option-error.ts";
export type { ApiPage, ApiPageFile } from "./contracts/pages/api-page.ts";
export type { Branding } from "./contracts/pages/branding.ts";
export type {
  DoneCode,
  KeyTexts,
  LinkTexts,
  PartialTexts,
  ScriptTexts,
  Texts,
  TrashTexts,
  VersionTexts,
} from "./contracts/pages/texts.ts";
export type { CharacterClass, PasswordPolicy } from "./contracts/password-policy.ts";
export type { Quota, QuotaLimit, QuotaUsage } from "./contracts/quota.ts";
export type { AccountTotp, SecondFactor } from "./contracts/sign-on/second-factor.ts";
export type {
  SignOnAnswer,
  SignOnRefusal,
  SignOnRequest,
  SignOnVerdict,
  SingleSignOn,
  StartedSignOn,
} from "./contracts/sign-on/single-sign-on.ts";
export {
  type ByteRange,
  type CreateFolderOptions,
  type EntityTags,
  type FolderOwner,
  isStorageError,
  type RemoveOptions,
  type StorageAdapter,
  type StorageEntry,
  StorageError,
  type StorageErrorCode,
  type StoredFile,
  type WriteOptions,
} from "./contracts/storage-adapter.ts";
export type { Trigger, TriggerContext, TriggerMember, TriggerStyle } from "./contracts/trigger.ts";
export type { DecideUpload, Upload, UploadGuard } from "./contracts/upload.ts";
export { type Failure, HttpError, type HttpErrorOptions, isHttpError } from "./http/http-error.ts";
export type { UploadProtocol } from "./http/uploads/request-types.ts";
export type { MeasuredRequest } from "./metrics/measure-service.ts";
export { createMetrics, type Metrics, type MetricsOptions } from "./metrics/metrics.ts";
export type { Urgency } from "./platform/fair-queue.ts";
export type { HttpAuthenticatorOptions } from "./remote-auth/authenticator/options.ts";
export type { RemoteAudit } from "./remote-auth/authenticator/verdict.ts";
export type { EndpointAuthorization } from "./remote-auth/endpoint/authorization.ts";
export type { AuthenticationOutcome, AuthenticationOutcomes } from "./remote-auth/endpoint/outcome.ts";
export {
  type AuthenticationEndpoint,
  type AuthenticationEndpointOptions,
  createAuthenticationEndpoint,
} from "./remote-auth/endpoint.ts";
export { createHttpAuthenticator } from "./remote-auth/http-authenticator.ts";
export type { AuthenticationRejection, AuthenticationRequest } from "./schemas/remote-auth.ts";
export { type AccountOpenerOptions, createAccountOpener, type OpenAccount } from "./service/account-opener.ts";
export { createFileService } from "./service/service.ts";
export type { EventSink } from "./sinks/event-sink.ts";
export { createWebhookSink, type WebhookSinkOptions } from "./sinks/webhook.ts";
export { type Mounts, mountStorage } from "./storage/mount.ts";
export { type MountedTrash, mountTrash } from "./storage/mount-trash.ts";
export { type MountedVersions, mountVersions } from "./storage/mount-versions.ts";
export type { MetadataFields, MetadataKey } from "./uploads/metadata-fields.ts";
