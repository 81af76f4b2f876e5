import type { AccountSettings } from "../../contracts/account.ts";
import type { KeyValueStore } from "../../contracts/key-value-store.ts";

/** The account of a session. */
export interface SessionRecord {
  readonly username: string;
  /** The settings that the authenticator gave at login. */
  readonly settings: AccountSettings;
  /** The account's version at login, if the authenticator gave one. The session ends when it is no longer current. */
  readonly version?: string;
}

/** A session's account and the time of its login. The version is left out: only the sessions themselves check it. */
export interface TimedSession extends Omit<SessionRecord, "version"> {
  /** Milliseconds since the epoch. */
  readonly created: number;
}

/** Receives a session. */
export type OnSession = (session: TimedSession) => void;

/**
 * The sessions of a service (5.1). Every method rejects with `HttpError` `unavailable` when the store fails.
 *
 * A request costs two reads of the store (the session and its account's generation), and at most one write per
 * twentieth of the idle time.
 */
export interface Sessions {
  /**
   * Returns the generation of an account's sessions, which a password change replaces. A login reads it before it
   * verifies the password: if the password changes meanwhile, the session of that login is invalid from the start.
   */
  generationOf(username: string): Promise<string | undefined>;
  /**
   * Starts a session of a generation and returns its new random ID of 32 hexadecimal digits. It never adopts an ID from
   * a client. If the account has as many sessions as it may have, ends the one that was unused for the longest time and
   * passes it to `onEnded`.
   */
  start(record: SessionRecord, generation?: string, onEnded?: OnSession): Promise<string>;
  /**
   * Returns the record of a session that is neither ended nor expired, and keeps the session alive. Returns `undefined`
   * for anything else; text that is not an ID does not reach the store. The first use of an expired session passes it
   * to `onExpired`. If the account's version has changed, the session is removed: it stays invalid even if the account
   * changes back.
   */
  find(id: string, onExpired?: OnSession): Promise<TimedSession | undefined>;
  /**
   * Returns whether a session was ended: by a logout, a new login over the limit, a password change, or a change of its
   * account. One that has only expired was not ended; `undefined` if the store has removed it since. Keeps the session
   * alive: a transfer asks now and then.
   */
  isEnded(id: string): Promise<boolean | undefined>;
  /**
   * Ends a session in every process on the store. Returns its record to the first caller; `undefined` if {@link find}
   * would find no session.
   */
  end(id: string, onExpired?: OnSession): Promise<TimedSession | undefined>;
  /**
   * Ends all sessions of an account except one, and those of logins in progress. `version` is the one that the account
   * is about to get; the kept session stays valid with it.
   */
  endOthers(username: string, keptId: string, version?: string): Promise<void>;
  /** Ends all sessions of an account, and those of logins in progress. */
  endAll(username: string): Promise<void>;
}

/** Where sessions are kept, and for how long. */
export interface SessionsOptions {
  /** Keeps the sessions. Its keys contain the SHA-256 of IDs and account names only. */
  readonly store: KeyValueStore;
  /**
   * Seconds without use until a session expires. It may expire up to a twentieth earlier, as not every use is written.
   */
  readonly idleSeconds: number;
  /** Seconds from the login until a session expires in any case. */
  readonly maxSeconds: number;
  /** How many sessions an account may have at a time; 0 for no limit. */
  readonly maxPerAccount: number;
  /**
   * Returns whether an account's version is current; `undefined` if no method of this process knows. Default: all are
   * current.
   */
  readonly isCurrent?: (username: string, version: string) => Promise<boolean | undefined>;
  /** Returns milliseconds since the epoch. All processes on one store must agree on it. Default: `Date.now`. */
  readonly clock?: () => number;
}
