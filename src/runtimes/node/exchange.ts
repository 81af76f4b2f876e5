import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Connection } from "../../contracts/connection.ts";
import type { ChunkReader } from "../chunk-reader.ts";
import { toConnection } from "./connection-info.ts";
import { mostFieldsOf } from "./header-count.ts";
import { createDisconnectError, createRequestBody, hasBody, type RequestBody } from "./request-body.ts";
import { resetSocket } from "./reset-socket.ts";
import { isDraining } from "./shutdown.ts";

/** What outlives one request: found once a socket, shared by all requests that it carries. */
export interface SocketState {
  /** What accepted it; `undefined` where a host plays a connection. */
  readonly server: object | undefined;
  readonly scheme: "http" | "https";
  readonly connection: Connection;
  /** A request with so many names and values of fields may lack some. */
  readonly mostFields: number;
  /** The one request that is being answered, until its response is handed over whole. */
  current: Exchange | undefined;
  /** The requests that were pipelined behind it, each with what starts it. The socket is not read while there are any. */
  readonly waiting: { readonly exchange: Exchange; readonly start: () => void }[];
  /** Set once a response says `Connection: close` over an unread body: what follows on the wire is not answered. */
  lingering: boolean;
  /** Set once what follows on the wire cannot be read: the socket ends behind the answers to what came before. */
  unreadable: boolean;
  /** The last host seen and the URL origin made of it, `undefined` for what is no host: clients repeat it. */
  host: string | undefined;
  origin: string | undefined;
}

/** One request and its response on a socket, from the parser's call until the response is handed over or cut. */
export interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly state: SocketState;
  /** Absent where the request announces no body. */
  readonly body: RequestBody | undefined;
  /** Made when somebody asks for the request's signal: a signal costs more than all the rest of a request. */
  controller: AbortController | undefined;
  /** The response body being sent, until it has ended or was let go. */
  reader: Pick<ChunkReader, "cancel"> | undefined;
  /** Ends the response writer's wait for a slow client. */
  wake: (() => void) | undefined;
  /** The service has answered: it has no work under way but the response body. */
  responded: boolean;
  /** The socket closed before the response was handed over whole. */
  gone: boolean;
}

const states = new WeakMap<Socket, SocketState>();
/** Those of them that each server has now. */
const sockets = new WeakMap<object, Set<Socket>>();

/** An exchange that has touched neither message yet: a middleware may still pass it on. */
export function createExchange(req: IncomingMessage, res: ServerResponse): Exchange {
  const state = states.get(req.socket) ?? createSocketState(req.socket);
  return {
    req,
    res,
    state,
    body: hasBody(req) ? createRequestBody(req, res) : undefined,
    controller: undefined,
    reader: undefined,
    wake: undefined,
    responded: false,
    gone: false,
  };
}

/**
 * Takes the exchange over: from here on its end is watched. A socket has one exchange at work at a time, or one client
 * could have thousands: a pipelined one gets a promise of its turn, which never comes when the client has gone.
 */
export function openExchange(exchange: Exchange): Promise<void> | undefined {
  const { req, res, state } = exchange;
  // A host's own work before ours may have outlasted the client.
  if (req.socket.destroyed) {
    abandonExchange(exchange);
    return undefined;
  }
  res.on("finish", () => closeExchange(exchange));
  res.on("timeout", (socket: Socket) => endIdle(exchange, socket));
  if (state.current !== undefined) {
    return new Promise((start) => {
      state.waiting.push({ exchange, start });
      stopReading(req.socket);
    });
  }
  // Behind the last answer of a server that ends nothing is begun.
  if (!req.socket.writable && isDraining(state)) return new Promise(() => undefined);
  state.current = exchange;
  return undefined;
}

/** Ends a connection at once, whatever is under way; the exchange that it cut. Earlier answers still arrive; one that ends with its connection (HTTP/1.0) must not seem to be whole. */
export function cutSocket(socket: Socket): Exchange | undefined {
  const current = states.get(socket)?.current;
  if (current?.res.headersSent && current.req.httpVersionMinor === 0) resetSocket(socket);
  else socket.destroy();
  return current;
}

/** Ends the connection of a client that does not keep up. Of an answer the system holds megabytes, which it would offer for minutes more. */
export function cutSlow({ req, res }: Exchange): void {
  if (res.headersSent) resetSocket(req.socket);
  else req.socket.destroy();
}

/** Destroys all sockets of a server on which a request has come to us; the exchanges that were cut. */
export function cutServer(server: object): readonly Exchange[] {
  return [...(sockets.get(server) ?? [])].map(cutSocket).filter((exchange) => exchange !== undefined);
}

/** The request that is being answered on a socket. */
export function exchangeOf(socket: Socket): Exchange | undefined {
  return states.get(socket)?.current;
}

/** Whether an exchange waits for its client: for bytes that have not come, or for room for those that are to go. */
export function isClientDue({ res, body }: Exchange): boolean {
  return res.writableEnded || res.writableLength > 0 || body?.isWaiting() === true;
}

/** Whether nothing is under way on a socket: no request seen, or every response handed over. */
export function isIdle(socket: Socket): boolean {
  const state = states.get(socket);
  return state === undefined || (state.current === undefined && !state.lingering);
}

/** Whether the socket is not read because requests wait on it: a client that gets no further is not to blame. */
export function isHeld(socket: Socket): boolean {
  return (states.get(socket)?.waiting.length ?? 0) > 0;
}

/** Whether the next answer that a socket may carry is the one to what its parser is at. */
export function canRespond(socket: Socket): boolean {
  const current = states.get(socket)?.current;
  return socket.writable && (current === undefined || !(current.req.complete || current.res.headersSent));
}

/** Ends a socket on which nothing more can be read when the requests that came whole are answered. False where none of those is under way. */
export function endAfterResponses(socket: Socket): boolean {
  const state = states.get(socket);
  if (state?.current?.req.complete !== true) return false;
  state.unreadable = true;
  stopReading(socket);
  return true;
}

function createSocketState(socket: Socket): SocketState {
  const scheme = "encrypted" in socket && socket.encrypted === true ? "https" : "http";
  const connection = toConnection(socket);
  const server = ("server" in socket && (socket.server as object | null)) || undefined;
  const origin = `${scheme}://localhost`;
  const state: SocketState = {
    scheme,
    connection,
    server,
    mostFields: mostFieldsOf(server),
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
  // At the end of every message that it has parsed node:http resumes the socket.
  socket.on("resume", () => {
    if (state.waiting.length > 0 || state.unreadable) stopReading(socket);
  });
  // Not the response's own `close`: a pipelined response whose turn has not come gets none.
  socket.on("close", () => {
    peers?.delete(socket);
    if (state.current !== undefined) abandonExchange(state.current);
    state.current = undefined;
    dropWaiting(state);
  });
  return state;
}

/** node:http stops reading at the socket's `pause` event, of which a socket that counts as paused already has none. */
function stopReading(socket: Socket): void {
  if (socket.isPaused()) socket.emit("pause");
  else socket.pause();
}

/** The response is handed over: whoever waits is next. */
function closeExchange(exchange: Exchange): void {
  const { req, state } = exchange;
  if (state.current !== exchange) return;
  state.current = undefined;
  if (state.waiting.length > 0) startNext(state, req.socket);
  else if (state.unreadable) req.socket.destroySoon();
}

function startNext(state: SocketState, socket: Socket): void {
  // After a response that closes the connection nothing can be answered, so nothing may be done (RFC 9112, 9.6).
  if (!socket.writable) dropWaiting(state);
  let next = state.waiting.shift();
  // A host may have answered in our stead, say after a time limit of its own.
  while (next?.exchange.res.writableEnded) next = state.waiting.shift();
  // The rest of its body is what could not be read.
  if (state.unreadable && next?.exchange.req.complete !== true) {
    if (next !== undefined) abandonExchange(next.exchange);
    socket.destroySoon();
    return;
  }
  state.current = next?.exchange;
  if (state.waiting.length === 0) socket.resume();
  next?.start();
}

function dropWaiting({ waiting }: SocketState): void {
  for (const { exchange } of waiting.splice(0)) abandonExchange(exchange);
}

/** Lets go of the response body that is being sent, if it has not ended: the one place that cancels it. */
export function releaseReader(exchange: Exchange): void {
  const { reader } = exchange;
  exchange.reader = undefined;
  reader?.cancel(createDisconnectError()).catch(() => undefined);
}

function abandonExchange(exchange: Exchange): void {
  exchange.gone = true;
  exchange.controller?.abort(createDisconnectError());
  releaseReader(exchange);
  exchange.wake?.();
}

/**
 * A silent socket is the client's fault where we wait for its bytes or it does not take ours; else the service is at
 * work. A client that has ended its side may wait for the answer or be gone: it gets the idle time, and no more.
 */
function endIdle(exchange: Exchange, socket: Socket): void {
  const { timeout = 0 } = socket;
  if (isClientDue(exchange) || socket.readableEnded) cutSlow(exchange);
  else socket.setTimeout(timeout);
}
