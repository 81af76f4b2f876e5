import type { CredentialType, RejectionReason } from "./authenticator.ts";
import type { Component, Peer } from "./connection.ts";

/** Something that happened in the service (6, CONTRACT 8), told to the operator. Discriminated on `id`. */
export type FileEvent =
  | UnauthorizedRequest
  | AccessStarted
  | UploadStarted
  | UploadDone
  | UploadFailed
  | AuthenticationUrlSuspended
  | TriggerRun;

/** Gets every event as it happens. What it throws, or rejects with, is reported to the log and fails nothing. */
export type OnEvent = (event: FileEvent) => unknown;

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
  readonly data: LoginData;
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

/** 40021: an upload begins. */
export interface UploadStarted extends EventEnvelope {
  readonly id: 40021;
  readonly data: UploadData;
}

/** 40017: a file was uploaded with success. */
export interface UploadDone extends EventEnvelope {
  readonly id: 40017;
  readonly data: UploadData & TransferTotals;
}

/** 40022: an upload failed; what was there before is still there. */
export interface UploadFailed extends EventEnvelope {
  readonly id: 40022;
  readonly data: UploadData & TransferTotals;
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
}

/** The file of an upload. */
export interface UploadData {
  /** The account's virtual path. */
  readonly path: string;
  /** The storage's path. */
  readonly real_path: string;
  /** The parsed metadata (4.4). */
  readonly metadata?: Readonly<Record<string, readonly string[]>>;
}

/** What a finished upload came to. */
export interface TransferTotals {
  /** Bytes. */
  readonly total_write: number;
  /** Seconds. */
  readonly duration: number;
  /** Bytes per second. */
  readonly write_speed: number;
  readonly details?: string;
}
