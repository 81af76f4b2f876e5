import { type ByteSource, tap, toByteStream } from "../contracts/byte-source.ts";
import type { Connection } from "../contracts/connection.ts";
import type { RequestHandler } from "../contracts/file-service.ts";
import { type Reply, type ReplyBody, releaseBody } from "./reply.ts";

/** Handles a request as a {@link RequestHandler} does, but returns a plain reply. */
export type ReplyHandler = (request: Request, connection: Connection) => Promise<Reply>;

/**
 * What our handlers were made of. It is kept outside of them: a host's function around a handler, even a `Proxy` or a
 * copy of its properties, must not be bypassed.
 */
const replyHandlers = new WeakMap<RequestHandler, ReplyHandler>();

/** Makes a handler that returns the platform's own `Response`, except to our adapters: they get the reply itself. */
export function createHandler(handle: ReplyHandler): (request: Request, connection?: Connection) => Promise<Response> {
  async function respond(request: Request, connection: Connection = {}): Promise<Response> {
    return toResponse(await handle(request, connection), request.signal);
  }
  replyHandlers.set(respond, handle);
  return respond;
}

/**
 * Returns the function that a handler was made of by {@link createHandler}. The `Response` of any other handler, which
 * may be a method of `owner`, is converted to a reply.
 */
export function toReplyHandler(handler: RequestHandler, owner?: object): ReplyHandler {
  const handle = replyHandlers.get(handler);
  return handle ?? (async (request, connection) => toReply(await handler.call(owner, request, connection)));
}

const APIS = ["fetch", "rest", "webdav", "browser"] as const;

/** A service, or what has some of its handlers. */
export type HandlersOfService = Partial<Record<(typeof APIS)[number], RequestHandler>>;

/** Returns the service with its handlers wrapped by `wrap`. */
export function wrapHandlers<Service extends HandlersOfService>(
  service: Service,
  wrap: (handle: ReplyHandler) => ReplyHandler,
): Service {
  const own = APIS.flatMap((api) => {
    const handler = service[api];
    return handler === undefined ? [] : [[api, createHandler(wrap(toReplyHandler(handler)))]];
  });
  return { ...service, ...Object.fromEntries(own) };
}

function toReply({ status, headers, body }: Response): Reply {
  return { status, headers: [...headers], body: body ?? undefined };
}

/** Converts a reply to a `Response`; one that cannot be a `Response` is a blank 500. */
function toResponse({ status, headers, body }: Reply, signal: AbortSignal): Response {
  try {
    return new Response(toBodyInit(body, signal), { status, headers: toHeaders(headers) });
  } catch {
    releaseBody(body);
    return new Response(null, { status: 500 });
  }
}

function toBodyInit(body: ReplyBody | undefined, signal: AbortSignal): BodyInit | null {
  if (body === undefined || typeof body === "string") return body ?? null;
  return "readInto" in body ? toReplyStream(body, signal) : (body as Exclude<typeof body, ByteSource> & BodyInit);
}

/**
 * The stream of a source. Some runtimes report a disconnect by the request's signal alone, so its abort closes the
 * source. A source that is closed seems to be at its end: the stream fails then, and never looks complete.
 */
export function toReplyStream(source: ByteSource, signal: AbortSignal): ReadableStream<Uint8Array> {
  const close = (): void => void source.close().catch(() => undefined);
  const stop = (): void => signal.removeEventListener("abort", close);
  const onEnd = (): void => {
    stop();
    signal.throwIfAborted();
  };
  if (signal.aborted) close();
  else signal.addEventListener("abort", close, { once: true });
  return toByteStream(tap(source, { onEnd, onError: stop, onClose: stop }));
}

/** The platform's own `Headers` of a reply. @throws TypeError for a value that no field can have. */
export function toHeaders(headers: Reply["headers"]): Headers {
  return new Headers(headers as [string, string][]);
}
