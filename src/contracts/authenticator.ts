import type { AccountSettings } from "./account.ts";
import type { Peer } from "./connection.ts";

/**
 * One method of the authentication chain: it validates credentials and configures the account behind them.
 */
export interface Authenticator {
  /** Names the method in the log, e.g. `accounts`. */
  readonly name: string;

  /** Checks the method's own configuration, once, before its first use. A rejection stops the service's start. */
  start?(): Promise<void>;

  /**
   * Judges one set of credentials. Verdicts are returned; a rejection of the promise counts as `rejected` and is reported to the
   * log, except an `HttpError` `unavailable`, of a method too busy to judge: then the request is answered 503. It must not tell by its
   * time whether an account exists.
   */
  authenticate(credentials: Credentials): Promise<Verdict>;
}

/** Credentials to validate (2.3). */
export interface Credentials {
  readonly type: "password" | "ssh-key" | "ssl-certificate";
  readonly username: string;
  /** The password, the SSH public key, or the certificate as PEM text. */
  readonly content: string;
  readonly peer?: Peer;
}

/** The three answers of a method (7.2). */
export type Verdict = Accepted | Unknown | Rejected;

/** The credentials are valid; the chain ends. */
export interface Accepted {
  readonly outcome: "accepted";
  readonly account: AccountSettings;
}

/** The method does not know the account: the next method of the chain is asked, or the login fails. */
export interface Unknown {
  readonly outcome: "unknown";
  readonly message?: string;
}

/** The credentials are refused and no other method is asked. */
export interface Rejected {
  readonly outcome: "rejected";
  /** May be shown to the user where the service is configured to. */
  readonly message?: string;
  /** May be shown to clients of the JSON API, likewise. */
  readonly publicResponse?: Readonly<Record<string, unknown>>;
  /** For the operator's eyes only. */
  readonly audit?: unknown;
}
