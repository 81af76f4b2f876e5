import type { Connection } from "./connection.ts";
import type { EventStream } from "./events/file-event.ts";

/** Answers a request; never rejects. What the runtime adapters mount, besides a whole {@link FileService}. */
export type RequestHandler = (request: Request, connection: Connection) => Promise<Response>;

/** How a stream of events is held for its reader. */
export interface EventStreamOptions {
  /** So many events wait for a reader that is behind; more are dropped, and counted. Default: 1000. */
  readonly capacity?: number;
}

/** A service: what the runtime adapters mount. Its handlers always resolve; a failure is a response too. */
export interface FileService {
  /** The three API variants on one URL space. 404 for a URL outside it. */
  fetch(request: Request, connection?: Connection): Promise<Response>;
  /** The JSON REST API alone (4.1-4.3). */
  rest(request: Request, connection?: Connection): Promise<Response>;
  /** The WebDAV subset alone (4.5). */
  webdav(request: Request, connection?: Connection): Promise<Response>;
  /** The browser API alone (4.6). */
  browser(request: Request, connection?: Connection): Promise<Response>;
  /** Whether the URL lies in the service's URL space; a middleware passes the others on. */
  handles(request: Request): boolean;
  /** Starts the authenticators; rejects when one's configuration does not work. Optional: the first request does it otherwise. */
  start(): Promise<void>;
  /**
   * Ends all sessions of an account, in every process on the store, and those of logins that are under way: for accounts that a method which tells no
   * versions does not let in any more, or with other settings. Rejects with HttpError `unavailable` when the store fails.
   */
  endSessions(username: string): Promise<void>;
  /** The events of the service from now on (6), for one reader, who ends them by leaving; see {@link EventStream}. @throws TypeError for a capacity that is none. */
  events(options?: EventStreamOptions): EventStream;
  /**
   * Ends what the service itself holds, the streams of events among it, when the transfers that events tell of have ended, or after 5 s. Its servers are ended before, by
   * their owners; the storage and the stores stay their owners'.
   */
  close(): Promise<void>;
}
