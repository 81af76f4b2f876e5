import {
  type Attributes,
  type Context,
  context,
  propagation,
  type Span,
  SpanKind,
  SpanStatusCode,
  type TextMapGetter,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import { VERSION } from "../config/version.ts";
import { tap, toByteSource } from "../contracts/byte-source.ts";
import type { Connection } from "../contracts/connection.ts";
import { KNOWN_METHODS } from "../http/methods.ts";
import type { Reply } from "../http/reply.ts";
import { type HandlersOfService, wrapHandlers } from "../http/reply-handler.ts";
import { setTrace } from "../http/trace-context.ts";
import { maskLinkTokens } from "../sharing/link-tokens.ts";

/**
 * Wraps a service so that each request has a span, from its arrival to the end of the response's content. It is a child
 * of the span that is active, else of the one in `traceparent`. What the service does meanwhile, such as requests to an
 * authentication endpoint, and its events belong to the trace. Names and attributes are those of OpenTelemetry's
 * conventions for HTTP servers; the path has `*` in place of tokens of links. Default: a tracer of the globally
 * registered provider.
 */
export function traceService<Service extends HandlersOfService>(
  service: Service,
  tracer: Tracer = trace.getTracer("fileferry", VERSION),
): Service {
  return wrapHandlers(service, (handle) => async (request, connection) => {
    const parent = findParent(request.headers);
    const attributes = toAttributes(request, connection);
    const span = tracer.startSpan(toName(request.method), { kind: SpanKind.SERVER, attributes }, parent);
    const own = trace.setSpan(parent, span);
    setTraceOf(own, request.headers);
    try {
      const reply = await context.with(own, () => handle(request, withAccount(connection, span)));
      span.setAttribute("http.response.status_code", reply.status);
      if (reply.status >= 500) setFailed(span, String(reply.status));
      return endWithContent(reply, span);
    } catch (error) {
      setFailed(span, "exception");
      span.end();
      throw error;
    }
  });
}

const HEADERS: TextMapGetter<Headers> = {
  get: (headers, name) => headers.get(name) ?? undefined,
  keys: (headers) => [...headers.keys()],
};

function findParent(headers: Headers): Context {
  const active = context.active();
  return trace.getSpan(active) === undefined ? propagation.extract(active, headers, HEADERS) : active;
}

/** Puts the span into the header: from here on, it is the parent of what the request causes. */
function setTraceOf(own: Context, headers: Headers): void {
  const fields: Record<string, string> = {};
  propagation.inject(own, fields);
  const { traceparent, tracestate } = fields;
  if (traceparent === undefined) return;
  setTrace(headers, tracestate === undefined ? { traceparent } : { traceparent, tracestate });
}

/** Clients may invent methods, and names of spans must be few. */
function toName(method: string): string {
  return KNOWN_METHODS.has(method) ? method : "HTTP";
}

function toAttributes({ method, url, headers }: Request, { peer, isSecure }: Connection): Attributes {
  const { protocol, pathname, hostname, port } = new URL(url);
  const isKnown = KNOWN_METHODS.has(method);
  return {
    "http.request.method": isKnown ? method : "_OTHER",
    ...(!isKnown && { "http.request.method_original": method }),
    "url.scheme": isSecure === true ? "https" : protocol.slice(0, -1),
    "url.path": maskLinkTokens(pathname),
    "server.address": hostname,
    ...(port !== "" && { "server.port": Number(port) }),
    ...(peer !== undefined && { "network.peer.address": peer.address, "network.peer.port": peer.port }),
    ...(headers.has("user-agent") && { "user_agent.original": headers.get("user-agent") ?? "" }),
  };
}

function withAccount(connection: Connection, span: Span): Connection {
  return {
    ...connection,
    onIdentified(username) {
      span.setAttribute("user.name", username);
      connection.onIdentified?.(username);
    },
  };
}

function setFailed(span: Span, type: string): void {
  span.setAttribute("error.type", type).setStatus({ code: SpanStatusCode.ERROR });
}

/** Ends the span at once if the content is in memory already, else when the last of it has been read. */
function endWithContent(reply: Reply, span: Span): Reply {
  const { body } = reply;
  if (body === undefined || typeof body === "string" || "byteLength" in body) {
    span.end();
    return reply;
  }
  const source = "readInto" in body ? body : toByteSource(body);
  const onError = (): void => {
    setFailed(span, "content");
    span.end();
  };
  return { ...reply, body: tap(source, { onEnd: () => span.end(), onClose: () => span.end(), onError }) };
}
