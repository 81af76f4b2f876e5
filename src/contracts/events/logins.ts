import type { CredentialType, RejectionReason } from "../authenticator.ts";
import type { EventEnvelope } from "./envelope.ts";

/** 40000: a login was rejected, whatever the reason. */
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

/** 40007: an account logged in; with Basic credentials and certificates at every request. */
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

/** 40042: a URL of the external authentication method failed and comes last for a while. */
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

/** 40015: a session was used after it had expired. A session that is never used again emits no event. */
export interface SessionTimedOut extends EventEnvelope {
  readonly id: 40015;
  readonly data: SessionData;
}

/** 40037: an account ended a session: by a logout, or by a login over its limit of sessions. */
export interface SessionClosed extends EventEnvelope {
  readonly id: 40037;
  readonly data: SessionData;
}

/** A session that has ended. */
export interface SessionData {
  /** Seconds since its login. */
  readonly duration: number;
}
