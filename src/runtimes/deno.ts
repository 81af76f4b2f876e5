import type { Connection } from "../contracts/connection.ts";
import type { FileService, RequestHandler } from "../contracts/file-service.ts";
import { toPeer } from "./client-identity.ts";
import { mountHandler, respond, type WebHandlerOptions } from "./web/handler.ts";

/** What `Deno.serve` passes to a handler; `remoteAddr` is a `Deno.NetAddr` unless the connection is a Unix socket. */
export interface DenoServeInfo {
  readonly remoteAddr: { readonly transport: string; readonly hostname?: string; readonly port?: number };
}

/** A handler for `Deno.serve`. */
export type DenoHandler = (request: Request, info: DenoServeInfo) => Promise<Response>;

/** Options of {@link toDenoHandler}. */
export interface DenoHandlerOptions extends WebHandlerOptions<[info: DenoServeInfo]> {}

/**
 * Turns the service, or any request handler, into a handler for `Deno.serve`: `Deno.serve({ port: 8080 },
 * toDenoHandler(service))`. It responds to every request, and rejects only if the host's own `next` does. The peer is
 * the remote end of the connection. `request.signal` aborts when the client disconnects. Unlike Deno's own signal, it
 * never aborts after a response that was sent completely.
 * @throws TypeError that names the wrong option.
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
 * Gives the request a signal of its own, because Deno's aborts at the end of every request, also of a successful one.
 * Deno's signal counts until there is a response; after that, a client that disconnects cancels the response's body.
 * `info.completed` does not help: it only settles when the handler has responded, however early the client
 * disconnected.
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
