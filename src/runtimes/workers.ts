import type { ClientCertificate, Connection, Peer } from "../contracts/connection.ts";
import type { FileService, RequestHandler } from "../contracts/file-service.ts";
import { toPeer } from "./client-identity.ts";
import { checkHandlerOptions, mountHandler, respond, type WebHandlerOptions } from "./web/handler.ts";
import { toClientCertificate, type WorkersTlsClientAuth } from "./workers/client-certificate.ts";

/** The part of a Worker's `ExecutionContext` that the adapter uses. */
export interface WorkersContext {
  waitUntil(work: Promise<unknown>): void;
}

/** A Worker in the module syntax: `export default toWorkerHandler(...)`. */
export interface WorkersHandler<Env> {
  fetch(request: Request, env: Env, context: WorkersContext): Promise<Response>;
}

/** How a service is mounted on Cloudflare Workers. */
export interface WorkersHandlerOptions<Env> extends WebHandlerOptions<[env: Env, context: WorkersContext]> {}

/** Makes the service of an environment, or any handler of requests such as that of `createAuthenticationEndpoint`: bindings are only known with the first request. */
export type ToService<Env> = (env: Env, context: WorkersContext) => FileService | RequestHandler;

/**
 * The service as a Worker, without `nodejs_compat`. It answers every request and never rejects, but where the host's own functions do.
 *
 * `service` may be a function of the bindings; it is called once for each environment of an isolate, with the first request, and again with the next one where it
 * throws, which Cloudflare answers and logs as the Worker's own error. It may also make a mere handler of requests. The context is that of the first request: nothing of it may be kept.
 *
 * The peer is the address in `CF-Connecting-IP`, which Cloudflare sets and nobody else may: the Worker must not be reached otherwise. A client
 * certificate is that of `request.cf.tlsClientAuth`, where Cloudflare has verified it. Every transfer, and what is told of it, runs to its end after the client has gone
 * (`waitUntil`); with the compatibility flag `enable_request_signal` the service also hears at once that it has.
 * @throws TypeError naming the option that is wrong.
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
      // Without it a request ends with its client, in the middle of whatever it was at.
      keep(context, responded);
      return responded;
    },
  };
}

type Mounted<Env> = WorkersHandler<Env>["fetch"];

/** What is mounted, or is so for each environment once it is there. */
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
  handler: RequestHandler,
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

/** Cloudflare tells no port. */
function readPeer(headers: Headers): Peer | undefined {
  const address = headers.get("cf-connecting-ip") ?? "";
  return /^[0-9a-f.:]+$/i.test(address) ? toPeer(address, undefined) : undefined;
}

function readCertificate(request: Request & { readonly cf?: { readonly tlsClientAuth?: unknown } }) {
  return toClientCertificate(request.cf?.tlsClientAuth as WorkersTlsClientAuth | undefined) satisfies
    | ClientCertificate
    | undefined;
}

/** What it waits for has told of its own failure. */
function keep(context: WorkersContext, work: Promise<unknown>): void {
  context.waitUntil(Promise.resolve(work).catch(() => undefined));
}

/** The streams of workerd: the one that has a `Content-Length`, and the one for what has none. */
interface WorkersStreams {
  readonly FixedLengthStream?: new (length: number) => TransformStream<Uint8Array, Uint8Array>;
  readonly IdentityTransformStream?: new () => TransformStream<Uint8Array, Uint8Array>;
}

/**
 * The stream through one of workerd's own: the only ones whose length it believes, and that tell when the client has gone, where a stream of JavaScript's is just not read any more.
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
