import type { AccountSettings } from "./account.ts";
import type { Component, Peer, Trace } from "./connection.ts";

/**
 * One method of the authentication chain: it validates credentials and configures the account behind them.
 */
export interface Authenticator {
  /** Names the method in the log, e.g. `accounts`, and in its sessions where it has `isCurrent`: of another name it would not know them. */
  readonly name: string;

  /** Checks the method's own configuration, once, before its first use. A rejection stops the service's start. */
  start?(): Promise<void>;

  /**
   * Judges one set of credentials. Verdicts are returned; a rejection of the promise counts as `rejected` and is reported to the
   * log, except an `HttpError` `unavailable`, of a method too busy to judge: then the request is answered 503. It must not tell by its
   * time whether an account exists.
   */
  authenticate(credentials: Credentials): Promise<Verdict>;

  /**
   * Does the work that `authenticate` would do for a name it does not know, and tells nothing: called when an earlier method has rejected
   * the credentials, so that the time to answer does not tell which method knows the name. A method whose work is done elsewhere waits about as
   * long as that takes.
   */
  equalizeTiming?(credentials: Credentials): Promise<void>;

  /**
   * Whether a `version` that the method has given with an `accepted` is still that of the account: sessions that began with one that is not any more
   * are ended. Asked with every request of a session, so it must be quick; a second late is soon enough. A rejection is answered 503.
   */
  isCurrent?(username: string, version: string): Promise<boolean>;

  /**
   * Whether the method keeps this account's password and can change it. Asked before the passwords are known. Default: `updatable` for
   * every account where there is an `updatePassword`, else `unknown`.
   */
  canUpdatePassword?(username: string): Promise<PasswordUpdatability>;

  /**
   * Changes an account's password when the current one is right, in one step: two changes at once that both name the former password
   * cannot both succeed. When the promise resolves with `updated`, the method itself accepts the new password and the former no
   * more; any other outcome and a rejection, which is answered 503, leave the former one in force.
   */
  updatePassword?(update: PasswordUpdate): Promise<PasswordUpdateOutcome>;
}

/** What a method can do for an account's password; `unknown`: the account is not its own, so the next one of the chain is asked. */
export type PasswordUpdatability = "updatable" | "not-updatable" | "unknown";

/** A change of password that an account asks for (4.1). The new one has passed the service's policy. */
export interface PasswordUpdate {
  readonly username: string;
  readonly currentPassword: string;
  readonly newPassword: string;
  readonly peer?: Peer;
  /**
   * To be called once the current password has matched and before the new one counts: it ends what the former one has opened. Its
   * rejection keeps the former password. `version`: that of the account with the new one, where the method has versions.
   */
  beforeChange?(version?: string): Promise<void>;
}

/** What came of a change of password. */
export type PasswordUpdateOutcome =
  | { readonly outcome: "updated" }
  /** The account is not this method's: the next one of the chain is asked. */
  | { readonly outcome: "unknown" }
  /** The account is this method's, but its password is not to be changed here; no other method is asked. */
  | { readonly outcome: "not-updatable" }
  /** The current password is not the account's. It counts as a failed login. */
  | { readonly outcome: "wrong-password" };

/** What credentials can be (2.3). */
export const CREDENTIAL_TYPES = ["password", "ssh-key", "ssl-certificate"] as const;

/**
 * One of the types of credentials (2.3).
 *
 * @useDeclaredType
 */
export type CredentialType = (typeof CREDENTIAL_TYPES)[number];

/** Credentials to validate (2.3). */
export interface Credentials {
  readonly type: CredentialType;
  readonly username: string;
  /** The password, the SSH public key as it stands in `authorized_keys`, or the certificate as PEM text. */
  readonly content: string;
  readonly peer?: Peer;
  /** What received the login. */
  readonly creator?: Component;
  /** The trace that the request belongs to. */
  readonly trace?: Trace;
  /** The server that it is a part of. */
  readonly server?: { readonly uuid: string };
}

/** The three answers of a method (7.2). */
export type Verdict = Accepted | Unknown | Rejected;

/** What every verdict may hold beside its outcome. */
interface Audited {
  /** For the operator's eyes only: it stands in the event of the login, nowhere else. No secret is in it. */
  readonly audit?: unknown;
}

/** The credentials are valid; the chain ends. */
export interface Accepted extends Audited {
  readonly outcome: "accepted";
  readonly account: AccountSettings;
  /**
   * Stands for the account and its password as they are: another text when either changes. It is kept with sessions, so it must
   * not give the password away. Without `isCurrent` it is dropped.
   */
  readonly version?: string;
}

/** The method does not know the account: the next method of the chain is asked, or the login fails. */
export interface Unknown extends Audited {
  readonly outcome: "unknown";
  /** For the operator, as `audit` is. */
  readonly message?: string;
}

/** Why a method rejects credentials: see {@link Rejected.reason}. */
export type RejectionReason = "credentials" | "unavailable" | "failure";

/** The credentials are refused and no other method is asked. */
export interface Rejected extends Audited {
  readonly outcome: "rejected";
  /**
   * `credentials`: they were judged, and are not valid. `unavailable`: nobody judged them, because what the method asks is down; this alone
   * does not count as a failed login (CONTRACT 6.6). `failure`: what the method asks answered, but nonsense. The client is told the same
   * whatever it is. Default: `credentials`.
   */
  readonly reason?: RejectionReason;
  /** May be shown to the user where the service is configured to (7.2). */
  readonly message?: string;
  /** May be shown to clients of the JSON API, likewise. */
  readonly publicResponse?: Readonly<Record<string, unknown>>;
}
