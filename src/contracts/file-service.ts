import type { Connection } from "./connection.ts";
import type { EventStream } from "./events/file-event.ts";
import type { HostSessions } from "./identity.ts";
import type { SweepOptions } from "./kept/sweep-options.ts";
import type { Links } from "./links.ts";

/** An API of the service (1.1). All APIs share one URL space. */
export type Api = "rest" | "webdav" | "browser";

/** Handles a request and never rejects. Runtime adapters mount such a function, or a complete {@link FileService}. */
export type RequestHandler = (request: Request, connection: Connection) => Promise<Response>;

/** How a stream of events waits for its reader. */
export interface EventStreamOptions {
  /** Maximum number of events that wait for a slow reader. Further events are dropped and counted. Default: 1000. */
  readonly capacity?: number;
}

/** A service, which runtime adapters mount. Its handlers never reject: a failure is a response too. */
export interface FileService {
  /** The three API variants at the same URLs. A URL outside them is 404. */
  fetch(request: Request, connection?: Connection): Promise<Response>;
  /** The JSON REST API alone (4.1-4.3). */
  rest(request: Request, connection?: Connection): Promise<Response>;
  /** The WebDAV API alone: the methods of 4.5, and all of WebDAV with the option `webdav`. */
  webdav(request: Request, connection?: Connection): Promise<Response>;
  /** The browser API alone (4.6). */
  browser(request: Request, connection?: Connection): Promise<Response>;
  /** Whether the URL belongs to the service. Middleware passes other requests on. */
  handles(request: Request): boolean;
  /**
   * Starts the authenticators, and rejects if the configuration of one does not work. A call is optional: otherwise the
   * first request starts them.
   */
  start(): Promise<void>;
  /**
   * Ends all sessions of an account, in every process that uses the same store, and of logins that are still in
   * progress. Call it if an account may no longer log in, or has other settings, and its authenticator has no
   * `isCurrent`. Rejects with `HttpError` `unavailable` when the store fails.
   */
  endSessions(username: string): Promise<void>;
  /** The sessions, for an application that identifies its users itself. */
  readonly sessions: HostSessions;
  /** The links to files and folders of accounts; see the option `links`. */
  readonly links: Links;
  /**
   * The events of the service from now on, for one reader. The reader ends the stream by leaving its loop; see
   * {@link EventStream}.
   * @throws TypeError if the capacity is invalid.
   */
  events(options?: EventStreamOptions): EventStream;
  /**
   * Ends resumable uploads that no request has continued for too long, those whose folder was removed or moved, and
   * downloads whose end another server should have reported; recounts the folders of quotas that are due;
   * and, at most once an hour, removes the files that the option `retention` no longer keeps, and from the trash and
   * from the versions what is too old or too much. Returns how many. The service ends uploads by itself after a
   * creation of an upload, at most once in ten minutes; call this from a timer or a cron trigger for all the rest.
   * Several processes may call it at the same time. If one of these parts fails, the others are done all the same, and
   * the next call does that part again; the promise then rejects with the first failure. Abort a sweep before `close`.
   */
  sweep(options?: SweepOptions): Promise<number>;
  /**
   * Ends the streams of events, when all running transfers have emitted their last event, or after 5 s. Close the
   * servers before this call. Code that runs during a request, such as a trigger, `beforeCommit` or the handler of a
   * host, must not wait for the promise: it would wait for its own request, so for 5 s. The storage and the stores stay
   * open: their owners close them.
   */
  close(): Promise<void>;
}
