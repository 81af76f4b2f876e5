import type { Connection } from "../contracts/connection.ts";
import type { FileService, RequestHandler } from "../contracts/file-service.ts";
import { checkOption } from "../contracts/option-error.ts";
import { toPeer } from "./client-identity.ts";
import { mountHandler, respond, type WebHandlerOptions } from "./web/handler.ts";

/** The part of Bun's server that this adapter uses. */
export interface BunServer {
  requestIP(request: Request): { readonly address: string; readonly port: number } | null;
}

/** The `fetch` handler of `Bun.serve`. */
export type BunHandler = (request: Request, server: BunServer) => Promise<Response>;

/** Options of {@link toBunHandler}. */
export interface BunHandlerOptions extends WebHandlerOptions<[server: BunServer]> {}

/** Options of {@link toBunServeOptions}. */
export interface BunServeOptions extends BunHandlerOptions {
  /**
   * Bun cuts a connection on which nothing moves for this time, also while the service is working. Seconds, at most
   * 255; 0 for never. Default: 120. Bun's own default of 10 cuts slow uploads and downloads.
   */
  readonly idleSeconds?: number;
}

/** Options for `Bun.serve` that file transfers need; see {@link toBunServeOptions}. */
export interface BunServe {
  readonly fetch: BunHandler;
  readonly maxRequestBodySize: number;
  readonly idleTimeout: number;
  /** Bun never sends its error page, which shows source code. */
  readonly development: false;
}

/**
 * A body up to this length is read completely before the response starts. Bun drops the `Content-Length` of streams
 * (oven-sh/bun#10507), so longer bodies are sent in chunks without a length.
 */
const WHOLE_BYTES = 262_144;

/**
 * Turns the service, or any request handler, into the `fetch` handler of `Bun.serve`. It responds to every request, and
 * rejects only if the host's own `next` does. The peer is the remote end of the connection. Bun's default limits are
 * for small requests: bodies of 128 MiB and 10 s of silence. {@link toBunServeOptions} sets others.
 * @throws TypeError that names the wrong option.
 */
export function toBunHandler(service: FileService | RequestHandler, options: BunHandlerOptions = {}): BunHandler {
  return mountHandler(service, options, (handler, request, server) =>
    respond(handler, request, toConnection(request, server), { wholeBytes: WHOLE_BYTES }),
  );
}

/**
 * Creates the handler and the options that file transfers need, for `Bun.serve({ port: 8080,
 * ...toBunServeOptions(service) })`. Bodies have any size, because the service has limits of its own, and connections
 * may be silent for a while.
 * @throws TypeError that names the wrong option.
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
