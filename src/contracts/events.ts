import type { CredentialType, RejectionReason } from "./authenticator.ts";
import type { Component, Peer, Trace } from "./connection.ts";

/** Something that happened in the service (6, CONTRACT 8), told to the operator. Discriminated on `id`. */
export type FileEvent =
  | UnauthorizedRequest
  | FileOpened
  | ListingStarted
  | AccessStarted
  | FolderCreated
  | FolderNotCreated
  | FileRemoved
  | FileNotRemoved
  | ListingFailed
  | SessionTimedOut
  | ArchiveStarted
  | UploadDone
  | DownloadCut
  | BadRequest
  | UploadStarted
  | UploadFailed
  | InternalError
  | ArchiveDone
  | FolderRemoved
  | FolderNotRemoved
  | FolderAlreadyThere
  | ListingDone
  | FileNotOpened
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

/** 40000: a login was refused, for whatever cause. */
export interface UnauthorizedRequest extends EventEnvelope {
  readonly id: 40000;
  readonly data: LoginData & {
    readonly reason: RefusalReason;
    /** What is wrong with the account, where that is the reason. */
    readonly details?: string;
  };
}

/**
 * Why a login was refused. `unknown`: no method knows the account. `credentials`: they are wrong. `unavailable`: what the method asks is
 * down. `failure`: it answered nonsense, or the method itself has a defect. `throttled`: too many have failed, and these were not judged. `account`: they are valid, but the account cannot be
 * used as it is configured. `cross-site`: they are valid, but a browser sent them from another site (CONTRACT 6.5).
 */
export type RefusalReason = "unknown" | RejectionReason | "throttled" | "account" | "cross-site";

/** 40007: an account has logged in; with Basic credentials and certificates that is every request. */
export interface AccessStarted extends EventEnvelope {
  readonly id: 40007;
  readonly data: LoginData & {
    /** Whether a session begins with it. */
    readonly session: boolean;
  };
}

/** A login and how it was judged. */
export interface LoginData {
  readonly credentials: { readonly type: CredentialType };
  /** The methods that were asked, in order; the last one has decided. */
  readonly verdicts: readonly MethodVerdict[];
}

/** What one method of authentication answered (7.2). */
export interface MethodVerdict {
  /** The method's name, e.g. `accounts`. */
  readonly method: string;
  readonly outcome: "accepted" | "unknown" | "rejected";
  /** Of a rejection. */
  readonly reason?: RejectionReason;
  readonly message?: string;
  /** What the method tells the operator alone; see `createHttpAuthenticator` for that of the external one. */
  readonly audit?: unknown;
}

/** 40043: a trigger was run on a member of a folder (4.3). */
export interface TriggerRun extends EventEnvelope {
  readonly id: 40043;
  readonly data: {
    readonly trigger: string;
    /** The member's virtual path. */
    readonly path: string;
    /** Why it failed, as the client is told; null for a success. */
    readonly details: string | null;
  };
}

/** 40042: a URL of the external authentication method has failed, and comes last for a while (4.7, rule 3). */
export interface AuthenticationUrlSuspended extends EventEnvelope {
  readonly id: 40042;
  readonly data: {
    readonly url: string;
    /** Why no response came, in English. */
    readonly details: string;
    /** Seconds until it has its place in the order again. */
    readonly suspended: number;
  };
}

/** 40021: an upload begins. One of 40017 and 40022 ends it. */
export interface UploadStarted extends EventEnvelope {
  readonly id: 40021;
  readonly data: UploadData;
}

/** 40017: a file was uploaded with success. */
export interface UploadDone extends EventEnvelope {
  readonly id: 40017;
  readonly data: UploadData & WriteTotals;
}

/** 40022: an upload failed; what was there before is still there. */
export interface UploadFailed extends EventEnvelope {
  readonly id: 40022;
  readonly data: UploadData & WriteTotals & Reason;
}

/** 40004: a file was opened to be sent. One of 40039, 40040 and 40018 ends it. */
export interface FileOpened extends EventEnvelope {
  readonly id: 40004;
  readonly data: Place;
}

/** 40035: a file was asked for and could not be opened. */
export interface FileNotOpened extends EventEnvelope {
  readonly id: 40035;
  readonly data: Place & Reason;
}

/** 40039: a file, or the parts of it that were asked for, was handed over whole to be sent. */
export interface DownloadDone extends EventEnvelope {
  readonly id: 40039;
  readonly data: Place & ReadTotals;
}

/** 40040: a file could not be read to its end. */
export interface DownloadFailed extends EventEnvelope {
  readonly id: 40040;
  readonly data: Place & ReadTotals & Reason;
}

/** 40018: the client has gone while a file was sent. */
export interface DownloadCut extends EventEnvelope {
  readonly id: 40018;
  readonly data: Place & ReadTotals & Reason;
}

/** 40006: the listing of a folder begins. One of 40034 and 40014 ends it. */
export interface ListingStarted extends EventEnvelope {
  readonly id: 40006;
  readonly data: Place;
}

/** 40034: a listing was handed over whole to be sent. */
export interface ListingDone extends EventEnvelope {
  readonly id: 40034;
  readonly data: Place & ReadTotals;
}

/** 40014: a listing failed, or the client has gone meanwhile. */
export interface ListingFailed extends EventEnvelope {
  readonly id: 40014;
  readonly data: Place & ReadTotals & Reason;
}

/** 40016: an archive of a folder, or of members of it, begins. One of 40025 and 40041 ends it. */
export interface ArchiveStarted extends EventEnvelope {
  readonly id: 40016;
  readonly data: Place;
}

/** 40025: an archive was handed over whole to be sent. */
export interface ArchiveDone extends EventEnvelope {
  readonly id: 40025;
  readonly data: Place & ReadTotals;
}

/** 40041: an archive failed, or the client has gone meanwhile. */
export interface ArchiveFailed extends EventEnvelope {
  readonly id: 40041;
  readonly data: Place & ReadTotals & Reason;
}

/** 40010: a folder was created. */
export interface FolderCreated extends EventEnvelope {
  readonly id: 40010;
  readonly data: Place;
}

/** 40011: a folder could not be created. */
export interface FolderNotCreated extends EventEnvelope {
  readonly id: 40011;
  readonly data: Place & Reason;
}

/** 40030: a folder could not be created, as something of that name is there already. */
export interface FolderAlreadyThere extends EventEnvelope {
  readonly id: 40030;
  readonly data: Place & Reason;
}

/** 40012: a file was removed. */
export interface FileRemoved extends EventEnvelope {
  readonly id: 40012;
  readonly data: Place;
}

/** 40013: a file could not be removed. */
export interface FileNotRemoved extends EventEnvelope {
  readonly id: 40013;
  readonly data: Place & Reason;
}

/** 40026: a folder was removed, with everything under it. */
export interface FolderRemoved extends EventEnvelope {
  readonly id: 40026;
  readonly data: Place;
}

/** 40027: a folder could not be removed. */
export interface FolderNotRemoved extends EventEnvelope {
  readonly id: 40027;
  readonly data: Place & Reason;
}

/** 40015: a session was used after its time was over. Who never comes back is not told of. */
export interface SessionTimedOut extends EventEnvelope {
  readonly id: 40015;
  readonly data: SessionData;
}

/** 40037: a session was ended by its account: by a logout, or by a login where the account had as many as it may. */
export interface SessionClosed extends EventEnvelope {
  readonly id: 40037;
  readonly data: SessionData;
}

/** 40019: a request was answered 400. */
export interface BadRequest extends EventEnvelope {
  readonly id: 40019;
  readonly data: RequestData;
}

/** 40023: a request was answered 500. The log has the same identifier as `details`. */
export interface InternalError extends EventEnvelope {
  readonly id: 40023;
  readonly data: RequestData;
}

/** What every event carries (CONTRACT 8). It never holds a password, a session ID or an `Authorization` value. */
export interface EventEnvelope {
  /** One English sentence. */
  readonly message: string;
  readonly timestamp: {
    /** POSIX seconds. */
    readonly timestamp: number;
    readonly iso_8601: string;
  };
  /** The account that it is about. Of a refused login: the name that was given. */
  readonly account?: {
    /** The account's name where it has no other, or is not known. */
    readonly uuid: string;
    readonly name: string;
    /** Empty where it is not known. */
    readonly email: string;
    readonly peer?: Peer;
  };
  readonly component: Component;
  readonly server: { readonly uuid: string };
  /** The trace that the request belongs to, where it says so (W3C Trace Context). */
  readonly trace?: Trace;
}

/** A file or folder. */
export interface Place {
  /** The account's virtual path. */
  readonly path: string;
  /** The storage's path. */
  readonly real_path: string;
}

/** The file of an upload. */
export interface UploadData extends Place {
  /** The parsed metadata (4.4); absent where none came, or none is configured. */
  readonly metadata?: Metadata;
}

/** The metadata of an upload: the values of each key, in their order (4.4, rule 4). */
export type Metadata = Readonly<Record<string, readonly string[]>>;

/** What was written of an upload. */
export interface WriteTotals {
  /** Bytes that came. */
  readonly total_write: number;
  /** Seconds. */
  readonly duration: number;
  /** Bytes per second. */
  readonly write_speed: number;
}

/** What was read of a file, listing or archive. */
export interface ReadTotals {
  /** Bytes of the answer's content. */
  readonly total_read: number;
  /** Seconds. */
  readonly duration: number;
  /** Bytes per second. */
  readonly read_speed: number;
}

/** Why something failed, as the client was told or would have been. */
export interface Reason {
  readonly details: string;
}

/** A session that has ended. */
export interface SessionData {
  /** Seconds since its login. */
  readonly duration: number;
}

/** A request that was not answered as it was meant. */
export interface RequestData extends Reason {
  readonly method: string;
  /** The path of its URL as it came, without the query. */
  readonly path: string;
  readonly peer?: Peer;
}
