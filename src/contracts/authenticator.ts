import type { AccountSettings } from "./account.ts";
import type { AccountKeys } from "./api-keys.ts";
import type { Component, Peer, Trace } from "./connection.ts";
import type { SecondFactor } from "./sign-on/second-factor.ts";
import type { SingleSignOn } from "./sign-on/single-sign-on.ts";

/** One method of the authentication chain: it verifies credentials, and returns the settings of the account. */
export interface Authenticator {
  /**
   * The name of the method in the log, such as `accounts`. If the method has `isCurrent`, sessions keep this name, and
   * a method of another name does not recognize them.
   */
  readonly name: string;

  /**
   * Checks the method's own configuration once, before the method is first used. If it rejects, the service does not
   * start.
   */
  start?(): Promise<void>;

  /**
   * Verifies one set of credentials. The result is a verdict; a rejected promise counts as `rejected` and is logged.
   * The exception is an `HttpError` `unavailable`, from a method that is too busy: the response is 503. The time that
   * this takes must not reveal whether an account exists.
   */
  authenticate(credentials: Credentials): Promise<Verdict>;

  /**
   * Does the work that `authenticate` would do for an unknown name, and returns nothing. It is called when an earlier
   * method has rejected the credentials, so that the response time does not reveal which method knows the name. A
   * method whose work is done elsewhere waits about as long as that work takes.
   */
  equalizeTiming?(credentials: Credentials): Promise<void>;

  /**
   * Whether a `version` that the method returned with an `accepted` verdict is still the account's current one. If not,
   * the service ends the session. It is called with every request of a session, so it must be fast; a result may be a
   * second old. If it rejects, the response is 503.
   */
  isCurrent?(username: string, version: string): Promise<boolean>;

  /**
   * Returns the settings that an account has now, without credentials: they say what a link of the account may do. The
   * name is compared as in a login, and the settings are those that `accepted` would have. A result may be a second
   * old. It must not depend on the password, and must not contain it.
   *
   * An account that may not log in at all, such as a disabled one, is `unknown` with `isTaken`. Settings that a login
   * would be refused for are refused here too. If the method cannot tell, it rejects, and the response is 503. A method
   * without `lookup` is never asked: the settings of the link's creation count.
   */
  lookup?(username: string): Promise<AccountLookup>;

  /**
   * The API keys of the method's accounts. Absent: its accounts have none. Without `lookup` accounts cannot make, list
   * and revoke their own: it says whether a login has the settings of the account.
   */
  readonly keys?: AccountKeys;

  /**
   * A login at another site, for which the login page has a button. If all methods have one, the page asks for no
   * password. Default: none.
   */
  readonly singleSignOn?: SingleSignOn;

  /**
   * Whether the method keeps this account's password and can change it. It is called before the passwords are known.
   * Default: `updatable` for every account if the method has `updatePassword`, else `unknown`.
   */
  canUpdatePassword?(username: string): Promise<PasswordUpdatability>;

  /**
   * Changes an account's password if the current password is right. This is one step: of two concurrent changes that
   * both give the same current password, only one succeeds.
   *
   * When the promise resolves with `updated`, the method accepts the new password and no longer the previous one. After
   * any other result the previous password stays valid; so it does when the promise rejects, and then the response is
   * 503.
   */
  updatePassword?(update: PasswordUpdate): Promise<PasswordUpdateOutcome>;
}

/** What a method knows of an account without its credentials. */
export type AccountLookup =
  | { readonly outcome: "found"; readonly account: AccountSettings }
  /**
   * The account does not belong to this method, or may not log in: the service asks the next method of the chain.
   * `isTaken`: an account has the name, but may not log in. A login at another site then does not get its files.
   */
  | { readonly outcome: "unknown"; readonly isTaken?: boolean };

/**
 * What a method can do for an account's password. `unknown`: the account does not belong to this method, so the service
 * asks the next method of the chain.
 */
export type PasswordUpdatability = "updatable" | "not-updatable" | "unknown";

/** A password change that an account requests (4.1). The new password complies with the service's policy. */
export interface PasswordUpdate {
  readonly username: string;
  readonly currentPassword: string;
  readonly newPassword: string;
  readonly peer?: Peer;
  /**
   * The method must call this after the current password has matched and before the new one is valid: it ends the
   * sessions that the previous password opened. If it rejects, the method must keep the previous password. `version` is
   * the account's version with the new password, if the method has versions.
   */
  beforeChange?(version?: string): Promise<void>;
}

/** The result of a password change. */
export type PasswordUpdateOutcome =
  | { readonly outcome: "updated" }
  /** The account does not belong to this method: the service asks the next method of the chain. */
  | { readonly outcome: "unknown" }
  /** The account belongs to this method, but its password cannot be changed here. The service asks no other method. */
  | { readonly outcome: "not-updatable" }
  /** The current password is wrong. This counts as a failed login. */
  | { readonly outcome: "wrong-password" };

/** The types of credentials (2.3). */
export const CREDENTIAL_TYPES = ["password", "ssh-key", "ssl-certificate"] as const;

/**
 * One of the types of credentials (2.3).
 *
 * @useDeclaredType
 */
export type CredentialType = (typeof CREDENTIAL_TYPES)[number];

/** Credentials to verify (2.3). */
export interface Credentials {
  readonly type: CredentialType;
  readonly username: string;
  /** The password, the SSH public key as in `authorized_keys`, or the certificate as PEM text. */
  readonly content: string;
  readonly peer?: Peer;
  /** The component that received the login. */
  readonly creator?: Component;
  /** The trace that the request belongs to. */
  readonly trace?: Trace;
  /** The server that the component is part of. */
  readonly server?: { readonly uuid: string };
}

/** The results of a method (7.2). */
export type Verdict = Accepted | PasswordAccepted | Unknown | Rejected;

/** What every verdict may have in addition to its outcome. */
interface Audited {
  /** For the operator only: it appears in the event of the login and nowhere else. It must hold no secret. */
  readonly audit?: unknown;
}

/** The credentials are valid; no other method is asked. */
export interface Accepted extends Audited {
  readonly outcome: "accepted";
  readonly account: AccountSettings;
  /**
   * A text that changes whenever the account or its password changes. Sessions keep it, so it must not reveal the
   * password. Without `isCurrent` the service ignores it.
   */
  readonly version?: string;
}

/**
 * The password is right, but the account needs a second factor. No other method is asked, and the login page and the
 * JSON login ask for it. HTTP Basic takes an API key in place of this password.
 */
export interface PasswordAccepted extends Audited {
  readonly outcome: "second-factor";
  readonly account: AccountSettings;
  /** As {@link Accepted.version}. It changes with the secret, but not with the use of a recovery code. */
  readonly version?: string;
  readonly secondFactor: SecondFactor;
}

/**
 * The method does not know the account: the service asks the next method of the chain. If there is none, the login
 * fails.
 */
export interface Unknown extends Audited {
  readonly outcome: "unknown";
  /** For the operator only, as `audit`. */
  readonly message?: string;
}

/** Why a method rejects credentials; see {@link Rejected.reason}. */
export type RejectionReason = "credentials" | "unavailable" | "failure";

/** The method rejects the credentials; no other method is asked. */
export interface Rejected extends Audited {
  readonly outcome: "rejected";
  /**
   * - `credentials`: the credentials were verified, and are wrong.
   * - `unavailable`: the system that the method asks is down, so the credentials were not verified. Only this does not
   *   count as a failed login (CONTRACT 6.6).
   * - `failure`: the system that the method asks sent an invalid response.
   *
   * The client gets the same response for all of them. Default: `credentials`.
   */
  readonly reason?: RejectionReason;
  /** A message for the user, shown if the service is configured to show it (7.2). */
  readonly message?: string;
  /** Members of the response to clients of the JSON API, sent if the service is configured to send them (7.2). */
  readonly publicResponse?: Readonly<Record<string, unknown>>;
}
