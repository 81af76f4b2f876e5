import type { CredentialType, RejectionReason } from "../authenticator.ts";
import type { EventEnvelope, LeftOut } from "./envelope.ts";

/** 40000: a login was rejected, for any reason. */
export interface UnauthorizedRequest extends EventEnvelope {
  readonly id: 40000;
  readonly data: LoginData & {
    readonly reason: RefusalReason;
    /** The problem of the account, or what another site did wrong during the login. */
    readonly details?: string;
  } & LeftOut;
}

/**
 * Why a login was refused.
 *
 * - `unknown`: no method knows the account.
 * - `credentials`: the credentials are wrong.
 * - `unavailable`: the system that the method asks is down.
 * - `failure`: the system that the method asks sent an invalid response, or the method itself failed.
 * - `throttled`: too many logins have failed, so these credentials were not verified.
 * - `account`: the credentials are valid, but the account's settings cannot be used.
 * - `cross-site`: the credentials are valid, but a browser sent them from another site (CONTRACT 6.5).
 * - `expired`: the API key is right, but has expired.
 * - `key-required`: the password is right, but the account needs an API key for HTTP Basic.
 * - `second-factor-required`: the password is right, but the account needs a one-time password too.
 * - `second-factor-wrong`: the password is right, but the one-time password or recovery code is wrong, or was used
 *   before.
 * - `second-factor-throttled`: the password is right, but too many one-time passwords were wrong, so this one was not
 *   verified.
 */
export type RefusalReason =
  | "unknown"
  | RejectionReason
  | "throttled"
  | "account"
  | "cross-site"
  | "expired"
  | "key-required"
  | "second-factor-required"
  | "second-factor-wrong"
  | "second-factor-throttled";

/** 40007: an account logged in; with Basic each time a password is verified, with a key once a connection and hour. */
export interface AccessStarted extends EventEnvelope {
  readonly id: 40007;
  readonly data: LoginData & {
    /** Whether the login starts a session. */
    readonly session: boolean;
  };
}

/** What a login is made with; `identity`: the application of the host, or another site, has identified the user. */
export type LoginType = CredentialType | "identity" | "api-key";

/** The credentials of a login and the verdicts on them. */
export interface LoginData {
  readonly credentials: { readonly type: LoginType };
  /** The verdicts of the methods that were asked, in order. The last one decided. */
  readonly verdicts: readonly MethodVerdict[];
}

/** The verdict of one authentication method (7.2). */
export interface MethodVerdict {
  /** The method's name, such as `accounts`. */
  readonly method: string;
  readonly outcome: "accepted" | "unknown" | "rejected";
  /** Why the method rejected the credentials. */
  readonly reason?: RejectionReason;
  readonly message?: string;
  /** Details of the method for the operator only. For those of the external method see `createHttpAuthenticator`. */
  readonly audit?: unknown;
}

/** 40042: a URL of the external authentication method failed and comes last for a while. */
export interface AuthenticationUrlSuspended extends EventEnvelope {
  readonly id: 40042;
  readonly data: {
    readonly url: string;
    /** Why there was no response, in English. */
    readonly details: string;
    /** Seconds until the URL is asked in its usual order again. */
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
  /** Seconds since the login. */
  readonly duration: number;
}
