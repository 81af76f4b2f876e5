import type { Connection } from "../contracts/connection.ts";
import type { FileService, RequestHandler } from "../contracts/file-service.ts";
import { checkOption } from "../contracts/option-error.ts";
import { toPeer } from "./client-identity.ts";
import { mountHandler, respond, type WebHandlerOptions } from "./web/handler.ts";

/** The part of Bun's server that the adapter uses. */
export interface BunServer {
  requestIP(request: Request): { readonly address: string; readonly port: number } | null;
}

/** A handler as `Bun.serve` takes it for `fetch`. */
export type BunHandler = (request: Request, server: BunServer) => Promise<Response>;

/** How a service is mounted on Bun. */
export interface BunHandlerOptions extends WebHandlerOptions<[server: BunServer]> {}

/** How a service is served by Bun. */
export interface BunServeOptions extends BunHandlerOptions {
  /**
   * A connection on which nothing moves for so long is cut, also where it is the service that is at work. Seconds, 255 at most, 0 for never; default 120.
   * Bun's own default of 10 cuts slow uploads and downloads.
   */
  readonly idleSeconds?: number;
}

/** What `Bun.serve` needs to carry files; see {@link toBunServeOptions}. */
export interface BunServe {
  readonly fetch: BunHandler;
  readonly maxRequestBodySize: number;
  readonly idleTimeout: number;
  /** Bun's page for errors, which shows the source, never comes. */
  readonly development: false;
}

/**
 * A body of this length at most is read before its answer begins. Bun drops the `Content-Length` of whatever it sends as a stream (oven-sh/bun#10507), so that all that is longer goes out in chunks, without a length.
 */
const WHOLE_BYTES = 262_144;

/**
 * The service, or any handler of requests, for the `fetch` of `Bun.serve`. It answers every request and never rejects, but where the host's own `next` does. The peer
 * is the remote end of the connection. Bun's limits are for small requests: bodies of 128 MiB, and 10 silent seconds; {@link toBunServeOptions} has others.
 * @throws TypeError naming the option that is wrong.
 */
export function toBunHandler(service: FileService | RequestHandler, options: BunHandlerOptions = {}): BunHandler {
  return mountHandler(service, options, (handler, request, server) =>
    respond(handler, request, toConnection(request, server), { wholeBytes: WHOLE_BYTES }),
  );
}

/**
 * The same with what files need, for `Bun.serve({ port: 8080, ...toBunServeOptions(service) })`: bodies of any size, as the service's own limits are the ones that count, and connections that may be
 * silent for a while.
 * @throws TypeError naming the option that is wrong.
 */
export function toBunServeOptions(service: FileService | RequestHandler, options: BunServeOptions = {}): BunServe {
  const { idleSeconds = 120, ...handlerOptions } = options;
  const isIdleTime = Number.isInteger(idleSeconds) && idleSeconds >= 0 && idleSeconds <= 255;
  checkOption(isIdleTime, "idleSeconds", "a whole number from 0 to 255");
  return {
    fetch: toBunHandler(service, handlerOptions),
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    idleTimeout: idleSeconds,
    development: false,
  };
}

function toConnection(request: Request, server: BunServer): Connection {
  const remote = server.requestIP(request);
  const peer = toPeer(remote?.address, remote?.port);
  return peer === undefined ? {} : { peer };
}
