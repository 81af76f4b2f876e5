import type { IncomingMessage } from "node:http";
import { Headers, Request } from "@whatwg-node/fetch";
import { directBody } from "../../http/request-body.ts";
import type { Exchange, SocketState } from "./exchange.ts";
import { createDisconnectError } from "./request-body.ts";

const exchangeKey = Symbol("exchange");

/** One descriptor for all requests: the signal is created only if the service uses it. */
const lazySignal: PropertyDescriptor & ThisType<{ [exchangeKey]: Exchange }> = {
  configurable: true,
  get(): AbortSignal {
    const exchange = this[exchangeKey];
    if (exchange.controller === undefined) {
      exchange.controller = new AbortController();
      if (exchange.isDisconnected) exchange.controller.abort(createDisconnectError());
    }
    return exchange.controller.signal;
  },
};

/**
 * Creates the fetch API request of an exchange. Its URL is the origin and the raw target: nothing is decoded or
 * normalised. Returns `undefined` for an invalid request.
 */
export function toRequest(exchange: Exchange): Request | undefined {
  const { req, state, body } = exchange;
  const fields = toFields(req);
  const url = toUrl(state, fields.get("host"), targetOf(req), req.method);
  if (url === undefined) return undefined;
  try {
    const request = new Request(url, toInit(req.method, fields, body?.stream));
    Object.assign(request, { [exchangeKey]: exchange, [directBody]: body?.chunks });
    return Object.defineProperty(request, "signal", lazySignal);
  } catch {
    return undefined;
  }
}

/** The exchange of a request that {@link toRequest} has made; `undefined` for any other. */
export function exchangeOfRequest(request: Request): Exchange | undefined {
  return (request as Request & { readonly [exchangeKey]?: Exchange })[exchangeKey];
}

function toInit(method: string | undefined, fields: ReadonlyMap<string, string>, body: unknown): RequestInit {
  // The types of TypeScript know lists of pairs, but not that any iterable of pairs will do.
  const headers = new Headers(fields as unknown as [string, string][]);
  return (body === undefined ? { method, headers } : { method, headers, body, duplex: "half" }) as RequestInit;
}

/** The complete target: Express and Connect remove the mount path from `url` and keep `originalUrl`. */
function targetOf(req: IncomingMessage & { originalUrl?: unknown }): string {
  return typeof req.originalUrl === "string" ? req.originalUrl : (req.url ?? "");
}

/** Printable ASCII after the slash; a fragment is not part of a request target (RFC 9112 3.2). */
const originForm = /^\/[!"$-~]*$/;
const absoluteForm = /^https?:\/\/([^/?#]*)(.*)$/is;

/** The request's URL; `undefined` for an invalid target or an invalid `Host` (RFC 9112 3.2). */
function toUrl(state: SocketState, host: string | undefined, target: string, method = ""): string | undefined {
  const origin = originOf(state, host);
  if (origin === undefined) return undefined;
  if (originForm.test(target)) return origin + target;
  // The asterisk form means the complete server, and is only valid for OPTIONS.
  if (target === "*") return method === "OPTIONS" ? `${origin}/` : undefined;
  const [, authority, rest = ""] = absoluteForm.exec(target) ?? [];
  if (authority === undefined) return undefined;
  const path = rest.startsWith("/") ? rest : `/${rest}`;
  return originForm.test(path) ? (originOf(state, authority) ?? `${state.scheme}://localhost`) + path : undefined;
}

const plainHost = /^(?:[a-z0-9_][a-z0-9._-]*|\[[0-9a-f:.]+\])(?::\d{0,5})?$/i;

/**
 * The origin of a `Host`, so that the URL always parses: a fixed one if it is missing, `undefined` if it is invalid.
 */
function originOf(state: SocketState, host: string | undefined): string | undefined {
  if (host !== state.host) {
    const usable = !host || (plainHost.test(host) && URL.canParse(`http://${host}/`));
    state.origin = usable ? `${state.scheme}://${host || "localhost"}` : undefined;
    state.host = host;
  }
  return state.origin;
}

/** The fields of which Node keeps the first line alone (`message.headers`); in HTTP/2 there are more. */
const KEPT_ONCE: ReadonlySet<string> = new Set([
  "authorization",
  "content-length",
  "content-type",
  "from",
  "host",
  "if-modified-since",
  "if-unmodified-since",
  "max-forwards",
  "proxy-authorization",
  "referer",
  "user-agent",
]);

/**
 * The headers, as middleware has left them, with repeated fields joined (RFC 9110 5.3). A map: the ponyfill's `Headers`
 * searches all names of an object for each absent one. A copy, because the ponyfill's `Request` writes to it.
 */
function toFields(req: IncomingMessage): Map<string, string> {
  const { rawHeaders } = req;
  const source = req.headers as Record<string, string | undefined>;
  const fields = new Map<string, string>();
  // Each name is compared: a field that middleware has added must not make up for a line that Node has dropped.
  let isSame = true;
  let index = 0;
  for (const name in source) {
    const value = source[name];
    if (value !== undefined) fields.set(name, value);
    isSame &&= rawHeaders[index]?.toLowerCase() === name;
    index += 2;
  }
  const isComplete = isSame && index === rawHeaders.length;
  return isComplete ? fields : joinDropped(fields, req);
}

/** Joins repeated fields of which Node has dropped lines: the core must see that there were two. */
function joinDropped(fields: Map<string, string>, { rawHeaders, httpVersionMajor }: IncomingMessage) {
  for (const [name, lines] of toLines(rawHeaders)) {
    // A middleware may have removed the field, or replaced it.
    const isDropped = fields.get(name) === lines[0] && (KEPT_ONCE.has(name) || httpVersionMajor === 2);
    if (isDropped) fields.set(name, lines.join(", "));
  }
  return fields;
}

/** The values of each field, by its name in lower case. */
function toLines(raw: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const lines = new Map<string, string[]>();
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = (raw[index] as string).toLowerCase();
    const value = raw[index + 1] as string;
    const values = lines.get(name);
    if (values === undefined) lines.set(name, [value]);
    else values.push(value);
  }
  return lines;
}
