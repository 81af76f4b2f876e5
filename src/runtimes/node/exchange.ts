import { AsyncResource } from "node:async_hooks";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Connection } from "../../contracts/connection.ts";
import type { ChunkReader } from "../chunk-reader.ts";
import { toConnection } from "./connection-info.ts";
import { maxRawHeadersOf } from "./header-count.ts";
import { createDisconnectError, createRequestBody, hasBody, type RequestBody } from "./request-body.ts";
import { resetSocket } from "./reset-socket.ts";

/** State of a socket, shared by all requests on it. */
export interface SocketState {
  /** The server that accepted it; `undefined` if a host simulates a connection. */
  readonly server: object | undefined;
  readonly scheme: "http" | "https";
  readonly connection: Connection;
  /** A request with this number of header names and values may lack some. */
  readonly maxRawHeaders: number;
  /** The only request in progress, until the system has taken its complete response. */
  current: Exchange | undefined;
  /**
   * The requests that were pipelined after it, each with the function that starts it. The socket is not read while any
   * wait.
   */
  readonly waiting: { readonly exchange: Exchange; readonly start: () => void }[];
  /** Set when a response closes the connection before its request body was read: further requests get no response. */
  lingering: boolean;
  /** Set when further bytes cannot be parsed: the socket closes after the responses to earlier requests. */
  unreadable: boolean;
  /** The last `Host` and its URL origin, `undefined` for an invalid one. Memoized because clients repeat it. */
  host: string | undefined;
  origin: string | undefined;
}

/** One request and its response on a socket, until the system has taken the response, or the exchange was cut. */
export interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly state: SocketState;
  /** Has the values of `AsyncLocalStorage` of the request. What is done for several requests in a row runs in it. */
  readonly context: AsyncResource;
  /** Absent if the request announces no body. */
  readonly body: RequestBody | undefined;
  /** Created on the first use of the request's signal: a signal costs more than all the rest of a request. */
  controller: AbortController | undefined;
  /** The response body that is being sent, until it ends or is released. */
  reader: Pick<ChunkReader, "cancel"> | undefined;
  /** Resumes the writer of the response, which waits for a slow client. */
  wake: (() => void) | undefined;
  /** The bytes of the response's content that were written, without the framing of HTTP. */
  sentBytes: number;
  /** The service has returned a response: it only works on the response body. */
  responded: boolean;
  /** The socket closed before the system had taken the complete response. */
  isDisconnected: boolean;
}

const states = new WeakMap<Socket, SocketState>();
/** The open sockets of each server. */
const sockets = new WeakMap<object, Set<Socket>>();

/** Creates an exchange without touching the request or the response: a middleware may still pass them on. */
export function createExchange(req: IncomingMessage, res: ServerResponse): Exchange {
  const state = states.get(req.socket) ?? createSocketState(req.socket);
  return {
    req,
    res,
    state,
    context: new AsyncResource("FILEFERRY_REQUEST"),
    body: hasBody(req) ? createRequestBody(req, res, state.server !== undefined) : undefined,
    controller: undefined,
    reader: undefined,
    wake: undefined,
    sentBytes: 0,
    responded: false,
    isDisconnected: false,
  };
}

/**
 * Closes a connection immediately and returns the exchange that this cut. Earlier responses still arrive. A response of
 * HTTP/1.0 ends with its connection, so a RST keeps a part from looking complete.
 */
export function cutSocket(socket: Socket): Exchange | undefined {
  const current = states.get(socket)?.current;
  if (current?.res.headersSent && current.req.httpVersionMinor === 0) resetSocket(socket);
  else socket.destroy();
  return current;
}

/**
 * Closes the connection of a client that is too slow. A RST during a response: the system holds megabytes of it, which
 * it would offer for minutes more.
 */
export function cutSlow({ req, res }: Exchange): void {
  if (res.headersSent) resetSocket(req.socket);
  else req.socket.destroy();
}

/** Destroys all sockets of a server that have carried a request of ours, and returns the exchanges that this cut. */
export function cutServer(server: object): readonly Exchange[] {
  return [...(sockets.get(server) ?? [])].map(cutSocket).filter((exchange) => exchange !== undefined);
}

/** The exchange in progress on a socket. */
export function exchangeOf(socket: Socket): Exchange | undefined {
  return states.get(socket)?.current;
}

/** Whether an exchange waits for its client: to send bytes, or to read those that are to be sent. */
export function isClientDue({ res, body }: Exchange): boolean {
  return res.writableEnded || res.writableLength > 0 || body?.isWaiting() === true;
}

/** Whether nothing is in progress on a socket: no request has arrived, or every response is sent. */
export function isIdle(socket: Socket): boolean {
  const state = states.get(socket);
  return state === undefined || (state.current === undefined && !state.lingering);
}

/** Whether the socket is not read because requests wait: the client cannot send the rest of its request. */
export function hasWaitingRequests(socket: Socket): boolean {
  return (states.get(socket)?.waiting.length ?? 0) > 0;
}

/** Whether the next response on a socket would belong to the request that its parser is reading. */
export function canRespond(socket: Socket): boolean {
  const current = states.get(socket)?.current;
  return socket.writable && (current === undefined || !(current.req.complete || current.res.headersSent));
}

/** Closes a socket whose input is invalid after the responses to complete requests. Returns false if there are none. */
export function endAfterResponses(socket: Socket): boolean {
  const state = states.get(socket);
  if (state?.current?.req.complete !== true) return false;
  state.unreadable = true;
  stopReading(socket);
  return true;
}

function createSocketState(socket: Socket): SocketState {
  const connection = toConnection(socket);
  const scheme = connection.isSecure === true ? "https" : "http";
  const server = ("server" in socket && (socket.server as object | null)) || undefined;
  const origin = `${scheme}://localhost`;
  const state: SocketState = {
    scheme,
    connection,
    server,
    maxRawHeaders: maxRawHeadersOf(server),
    current: undefined,
    waiting: [],
    lingering: false,
    unreadable: false,
    host: undefined,
    origin,
  };
  states.set(socket, state);
  const peers = server === undefined ? undefined : (sockets.get(server) ?? new Set());
  if (server !== undefined && peers !== undefined) sockets.set(server, peers.add(socket));
  // node:http resumes the socket at the end of every message that it has parsed.
  socket.on("resume", () => {
    if (state.waiting.length > 0 || state.unreadable) stopReading(socket);
  });
  // Not the response's own `close`: a pipelined response that is not current gets none.
  socket.on("close", () => {
    peers?.delete(socket);
    if (state.current !== undefined) abandonExchange(state.current);
    state.current = undefined;
    dropWaiting(state);
  });
  return state;
}

/**
 * Stops reading a socket. node:http stops at its `pause` event, which a socket that is already paused does not emit.
 */
export function stopReading(socket: Socket): void {
  if (socket.isPaused()) socket.emit("pause");
  else socket.pause();
}

/** Abandons the requests that wait on a socket. */
export function dropWaiting({ waiting }: SocketState): void {
  for (const { exchange } of waiting.splice(0)) abandonExchange(exchange);
}

/** Cancels the response body that is being sent, unless it has ended. The only place that does so. */
export function releaseReader(exchange: Exchange): void {
  const { reader } = exchange;
  exchange.reader = undefined;
  reader?.cancel(createDisconnectError()).catch(() => undefined);
}

/** Ends the service's work on an exchange whose client has disconnected. */
export function abandonExchange(exchange: Exchange): void {
  exchange.isDisconnected = true;
  exchange.context.runInAsyncScope(() => {
    exchange.controller?.abort(createDisconnectError());
    releaseReader(exchange);
    exchange.wake?.();
  });
}
