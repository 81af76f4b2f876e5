import type { AccountSettings } from "./account.ts";
import type { Connection } from "./connection.ts";

/** The user who sends a request, as the host's application knows them. It holds for this request. */
export interface Identity {
  /** The name of the account, at most 255 bytes. */
  readonly username: string;
  /** The settings of the account. What they leave out comes from its group (CONTRACT 7.1). Default: none. */
  readonly settings?: AccountSettings | undefined;
  /** A text that changes with each login of the application, if the events shall show each one. */
  readonly version?: string | undefined;
}

/**
 * Returns who sends a request; `undefined` if the application does not know, so the service's own logins count. An
 * `HttpError` that it throws becomes the response. Anything else becomes a blank 500, and the log has it.
 */
export interface Identify {
  (request: Request, connection: Connection): Identity | undefined | Promise<Identity | undefined>;
  /**
   * How clients identify themselves to the application, such as `Bearer realm="files"`: a challenge for the header
   * `WWW-Authenticate` of each 401 (RFC 9110 11.6.1), in addition to those of the service. In the response to an
   * `HttpError` that has this header, the error's own challenge replaces it. Default: none.
   */
  readonly challenge?: string | undefined;
}

/** The sessions of a service, for the host's application. */
export interface HostSessions {
  /**
   * Starts a session of an account whose user the application has identified, and prepares its home folder. Rejects
   * with HttpError `denied` if the account cannot be used, and with HttpError `unavailable` when the store fails.
   * `connection` is the one of the request that the application answers: it decides on `Secure` in the cookie, unless
   * the option `publicOrigin` does.
   */
  start(username: string, settings: AccountSettings, connection?: Connection): Promise<StartedSession>;
  /**
   * Ends all sessions of an account, in every process that uses the same store, and of logins that are still in
   * progress. Rejects with HttpError `unavailable` when the store fails.
   */
  end(username: string): Promise<void>;
}

/** A session that has started. */
export interface StartedSession {
  /** The ID, for `Authorization: session <id>`. A secret. */
  readonly id: string;
  /** The value of a `Set-Cookie` header that gives a browser this session. */
  readonly setCookie: string;
}
