import type { AccountSettings } from "../../contracts/account.ts";
import type { KeyValueStore } from "../../contracts/key-value-store.ts";

/** Who is behind a session. */
export interface SessionRecord {
  readonly username: string;
  /** As the authenticator gave them at login. */
  readonly settings: AccountSettings;
  /** The account's version at login, where the authenticator gave one: the session ends when it is not current any more. */
  readonly version?: string;
}

/** The same without the version, which nobody else judges, and with the time of its login in POSIX milliseconds. */
export interface TimedSession extends Omit<SessionRecord, "version"> {
  readonly created: number;
}

/** Is told of a session. */
export type OnSession = (session: TimedSession) => void;

/**
 * The sessions of a service (5.1). Every method rejects with `HttpError` `unavailable` when the store fails.
 *
 * A request costs two reads of the store, the session's and its account's, and at most once per twentieth of the idle time a write.
 */
export interface Sessions {
  /**
   * The generation of an account's sessions, which a change of password replaces. A login asks for it before it validates the
   * password: one that changes meanwhile begins no session that lives.
   */
  generationOf(username: string): Promise<string | undefined>;
  /**
   * Begins a session of a generation under a new random ID: 32 hexadecimal digits. IDs of clients are never taken over. Where the account has as many
   * as it may, the one that was not used for longest ends, and `onEnded` is told of it.
   */
  start(record: SessionRecord, generation?: string, onEnded?: OnSession): Promise<string>;
  /**
   * The record of a session that is neither ended nor over, and keeps it alive. Anything that is no ID of a live session
   * is `undefined`, odd texts without asking the store. `onOver` is told of one whose time is over, at its first use. One whose account has another version
   * by now is ended for good: it does not come back with the account.
   */
  find(id: string, onOver?: OnSession): Promise<TimedSession | undefined>;
  /**
   * What a long transfer calls at every step, to keep a session alive: a comparison of times, and once per twentieth of the idle time a
   * `find`, which nobody waits for and whose failure is nobody's.
   */
  toProgress(id: string): () => void;
  /** Ends a session, in every process on the store. Its record, once; `undefined` where {@link find} would find none. */
  end(id: string, onOver?: OnSession): Promise<TimedSession | undefined>;
  /**
   * Ends all sessions of an account but one, and those of logins that are under way. `version`: what the account's is to be, which the kept session
   * outlives.
   */
  endOthers(username: string, keptId: string, version?: string): Promise<void>;
  /** Ends all sessions of an account, and those of logins that are under way. */
  endAll(username: string): Promise<void>;
}

/** Where sessions live and for how long. */
export interface SessionsOptions {
  /** Keeps the sessions; of IDs and account names it sees the SHA-256 as keys. */
  readonly store: KeyValueStore;
  /** Seconds without use after which a session is over; up to a twentieth earlier, as uses are not written each. Default: 1800. */
  readonly idleSeconds?: number;
  /** Seconds after which a session is over in any case. Default: 43200. */
  readonly maxSeconds?: number;
  /** Sessions that an account may have at a time; 0 for any number. Default: 100. */
  readonly maxPerAccount?: number;
  /** Whether a version of an account still stands; `undefined` where nobody here knows what it is of. Default: all do. */
  readonly isCurrent?: (username: string, version: string) => Promise<boolean | undefined>;
  /** Milliseconds since the epoch, shared by all processes on one store. Default: `Date.now`. */
  readonly clock?: () => number;
}
