import type { IncomingMessage } from "node:http";
import { Request } from "@whatwg-node/fetch";
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
      if (exchange.gone) exchange.controller.abort(createDisconnectError());
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
  const headers = toHeaders(req);
  const url = toUrl(state, headers.host, targetOf(req), req.method);
  if (url === undefined) return undefined;
  try {
    const init = body === undefined ? { method: req.method, headers } : toBodyInit(req.method, headers, body.stream);
    const request = new Request(url, init as RequestInit);
    Object.assign(request, { [exchangeKey]: exchange });
    return Object.defineProperty(request, "signal", lazySignal);
  } catch {
    return undefined;
  }
}

function toBodyInit(method: string | undefined, headers: Record<string, string>, body: unknown): object {
  return { method, headers, body, duplex: "half" };
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

/** A copy of the headers, because the ponyfill's `Request` writes to it; repeated fields are joined (RFC 9110 5.3). */
function toHeaders(req: IncomingMessage): Record<string, string> {
  const source = req.headers as Record<string, string>;
  const headers: Record<string, string> = {};
  let fields = 0;
  for (const name in source) {
    headers[name] = source[name] as string;
    fields += 2;
  }
  // Node drops a second `Authorization`, `Host`, `Content-Type` and others: the core must see that there were two.
  return fields === req.rawHeaders.length ? headers : joinHeaders(req.rawHeaders);
}

function joinHeaders(raw: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = Object.create(null);
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = (raw[index] as string).toLowerCase();
    const value = raw[index + 1] as string;
    const before = headers[name];
    headers[name] = before === undefined ? value : `${before}${name === "cookie" ? "; " : ", "}${value}`;
  }
  return headers;
}
