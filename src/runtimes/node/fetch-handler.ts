import type { Connection } from "../../contracts/connection.ts";
import type { Api, FileService, RequestHandler } from "../../contracts/file-service.ts";
import { findHandler } from "../request-handler.ts";
import { respond } from "../web/handler.ts";

/** A handler that takes the platform's own `Request` and returns its own `Response`. */
export type FetchHandler = (request: Request, connection?: Connection) => Promise<Response>;

/** Options of {@link toFetchHandler}. */
export interface FetchHandlerOptions {
  /** The only API variant to serve. Default: all three, which `service.fetch` distinguishes by the request. */
  readonly api?: Api;
}

/**
 * Turns the service, or any request handler, into a handler for frameworks that use `Request` and `Response` on Node,
 * such as Hono and Next.js. It never rejects. Unlike with `service.fetch`, a body that fails before its first bytes is
 * a 500, and one that fails later, or ends before its `Content-Length`, breaks off.
 *
 * The host identifies the client: by `toNodeConnection(socket)` if it knows the socket, otherwise by the option
 * `clientForwardedHeader`.
 * @throws TypeError for an unknown `api`.
 */
export function toFetchHandler(service: FileService | RequestHandler, { api }: FetchHandlerOptions = {}): FetchHandler {
  const handler = findHandler(service, api);
  return (request, connection = {}) => respond(handler, request, connection);
}
