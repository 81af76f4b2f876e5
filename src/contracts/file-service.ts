import type { Connection } from "./connection.ts";

/** Answers a request; never rejects. What the runtime adapters mount, besides a whole {@link FileService}. */
export type RequestHandler = (request: Request, connection: Connection) => Promise<Response>;

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
  /** Ends what the service itself holds; the storage and the stores stay their owners'. */
  close(): Promise<void>;
}
