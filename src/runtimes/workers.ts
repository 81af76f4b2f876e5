import type { ClientCertificate, Connection, Peer } from "../contracts/connection.ts";
import type { FileService, RequestHandler } from "../contracts/file-service.ts";
import type { ReplyHandler } from "../http/reply-handler.ts";
import { toPeer } from "./client-identity.ts";
import { checkHandlerOptions, mountHandler, respond, type WebHandlerOptions } from "./web/handler.ts";
import { toClientCertificate, type WorkersTlsClientAuth } from "./workers/client-certificate.ts";

/** The part of a Worker's `ExecutionContext` that this adapter uses. */
export interface WorkersContext {
  waitUntil(work: Promise<unknown>): void;
}

/** A Worker in module syntax: `export default toWorkerHandler(...)`. */
export interface WorkersHandler<Env> {
  fetch(request: Request, env: Env, context: WorkersContext): Promise<Response>;
}

/** Options of {@link toWorkerHandler}. */
export interface WorkersHandlerOptions<Env> extends WebHandlerOptions<[env: Env, context: WorkersContext]> {}

/**
 * Creates the service for an environment, or any request handler such as that of `createAuthenticationEndpoint`.
 * Bindings are only known with the first request.
 */
export type ToService<Env> = (env: Env, context: WorkersContext) => FileService | RequestHandler;

/**
 * Turns the service into a Worker, which does not need `nodejs_compat`. It responds to every request, and rejects only
 * if the host's own functions do.
 *
 * `service` may be a function of the bindings that returns a service or a request handler. It is called once for each
 * environment of an isolate, with the first request. If it throws, Cloudflare responds with an error of the Worker and
 * logs it, and the next request calls the function again. The context is that of the first request: keep nothing of it.
 *
 * The peer is the address in `CF-Connecting-IP`, which Cloudflare sets. The Worker must not be reachable in another
 * way, because a client could then set it. The client certificate is that of `request.cf.tlsClientAuth`, if Cloudflare
 * has verified it. A transfer and its events continue after the client has disconnected (`waitUntil`). With the
 * compatibility flag `enable_request_signal` the service also notices the disconnect immediately.
 * @throws TypeError that names the wrong option.
 */
export function toWorkerHandler<Env = unknown>(
  service: FileService | ToService<Env>,
  options: WorkersHandlerOptions<Env> = {},
): WorkersHandler<Env> {
  checkHandlerOptions(options);
  const mountedOf = toMounted(service, (found) => mountHandler(found, options, respondInWorker));

  async function respond(request: Request, env: Env, context: WorkersContext): Promise<Response> {
    return mountedOf(env, context)(request, env, context);
  }

  return {
    fetch(request, env, context) {
      const responded = respond(request, env, context);
      // Without it workerd stops the request when its client disconnects, in the middle of its work.
      keep(context, responded);
      return responded;
    },
  };
}

type Mounted<Env> = WorkersHandler<Env>["fetch"];

/** Mounts a service now, or one for each environment with its first request. */
function toMounted<Env>(
  service: FileService | ToService<Env>,
  mount: (service: FileService | RequestHandler) => Mounted<Env>,
): (env: Env, context: WorkersContext) => Mounted<Env> {
  if (typeof service !== "function") {
    const mounted = mount(service);
    return () => mounted;
  }
  const mountedBy = new Map<Env, Mounted<Env>>();
  return (env, context) => {
    const found = mountedBy.get(env) ?? mount(service(env, context));
    mountedBy.set(env, found);
    return found;
  };
}

function respondInWorker(
  handler: ReplyHandler,
  request: Request,
  _env: unknown,
  context: WorkersContext,
): Promise<Response> {
  const toBody = (stream: ReadableStream<Uint8Array>, length: number | undefined) =>
    toSizedStream(stream, length, context);
  return respond(handler, request, toConnection(request, context), { toBody });
}

function toConnection(request: Request, context: WorkersContext): Connection {
  const peer = readPeer(request.headers);
  const clientCertificate = readCertificate(request);
  return {
    ...(peer !== undefined && { peer }),
    ...(clientCertificate !== undefined && { clientCertificate }),
    waitUntil: (work) => keep(context, work),
  };
}

/** Cloudflare does not pass the port. */
function readPeer(headers: Headers): Peer | undefined {
  const address = headers.get("cf-connecting-ip") ?? "";
  return /^[0-9a-f.:]+$/i.test(address) ? toPeer(address, undefined) : undefined;
}

function readCertificate(request: Request & { readonly cf?: { readonly tlsClientAuth?: unknown } }) {
  return toClientCertificate(request.cf?.tlsClientAuth as WorkersTlsClientAuth | undefined) satisfies
    | ClientCertificate
    | undefined;
}

/** Keeps the Worker alive until the work is done. A failure is ignored: the work reports it itself. */
function keep(context: WorkersContext, work: Promise<unknown>): void {
  context.waitUntil(Promise.resolve(work).catch(() => undefined));
}

/** workerd's own streams: for a body with a `Content-Length`, and for one without. */
interface WorkersStreams {
  readonly FixedLengthStream?: new (length: number) => TransformStream<Uint8Array, Uint8Array>;
  readonly IdentityTransformStream?: new () => TransformStream<Uint8Array, Uint8Array>;
}

/**
 * Pipes a stream through one of workerd's own. Only for those does workerd send the length, and only those fail when
 * the client disconnects: it just stops reading a stream of JavaScript.
 */
function toSizedStream(
  stream: ReadableStream<Uint8Array>,
  length: number | undefined,
  context: WorkersContext,
): ReadableStream<Uint8Array> {
  const { FixedLengthStream, IdentityTransformStream } = globalThis as unknown as WorkersStreams;
  const through =
    length !== undefined && FixedLengthStream !== undefined
      ? new FixedLengthStream(length)
      : IdentityTransformStream !== undefined && new IdentityTransformStream();
  if (!through) return stream;
  keep(context, stream.pipeTo(through.writable));
  return through.readable;
}
