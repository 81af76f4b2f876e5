import type { Connection } from "../contracts/connection.ts";
import type { FileService, RequestHandler } from "../contracts/file-service.ts";
import { toPeer } from "./client-identity.ts";
import { mountHandler, respond, type WebHandlerOptions } from "./web/handler.ts";

/** What `Deno.serve` tells a handler of a request's connection; `remoteAddr` is a `Deno.NetAddr` wherever it is not a Unix socket. */
export interface DenoServeInfo {
  readonly remoteAddr: { readonly transport: string; readonly hostname?: string; readonly port?: number };
}

/** A handler as `Deno.serve` takes it. */
export type DenoHandler = (request: Request, info: DenoServeInfo) => Promise<Response>;

/** How a service is mounted on Deno. */
export interface DenoHandlerOptions extends WebHandlerOptions<[info: DenoServeInfo]> {}

/**
 * The service, or any handler of requests, for `Deno.serve`: `Deno.serve({ port: 8080 }, toDenoHandler(service))`. It answers every request and never rejects, but where
 * the host's own `next` does. The peer is the remote end of the connection. `request.signal` aborts when the client has gone, and never, as Deno's own does, after an answer that was sent whole.
 * @throws TypeError naming the option that is wrong.
 */
export function toDenoHandler(service: FileService | RequestHandler, options: DenoHandlerOptions = {}): DenoHandler {
  return mountHandler(service, options, async (handler, request, info) => {
    const { gone, settle } = followClient(request);
    const onCancel = (reason: unknown): void => gone.abort(reason);
    try {
      return await respond(handler, request, toConnection(info), { onCancel });
    } finally {
      settle();
    }
  });
}

function toConnection({ remoteAddr: { hostname, port } }: DenoServeInfo): Connection {
  const peer = toPeer(hostname, port);
  return peer === undefined ? {} : { peer };
}

/**
 * Gives the request a signal of its own. Deno's aborts at the end of every request, whatever came of it: it counts until there is an answer; from there on a client that
 * has gone lets go of the answer's body. (`info.completed` is no help: it settles when the handler has answered, however long the client has been gone.)
 */
function followClient(request: Request): { gone: AbortController; settle: () => void } {
  const gone = new AbortController();
  const { signal } = request;
  const follow = (): void => gone.abort(signal.reason);
  if (signal.aborted) follow();
  signal.addEventListener("abort", follow);
  Object.defineProperty(request, "signal", { configurable: true, value: gone.signal });
  return { gone, settle: () => signal.removeEventListener("abort", follow) };
}
