import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Connection } from "../contracts/connection.ts";
import type { ChunkReader } from "./node-body-source.ts";
import { toConnection } from "./node-connection.ts";
import { createDisconnectError, createRequestBody, type RequestBody } from "./node-request-body.ts";

/** What outlives one request: found once a socket, shared by all requests that it carries. */
export interface SocketState {
  readonly scheme: "http" | "https";
  readonly connection: Connection;
  /** The requests on this socket whose response is not yet handed over whole. */
  readonly exchanges: Set<Exchange>;
  /** Set once a response says `Connection: close` over an unread body: what follows on the wire is not answered. */
  ending: boolean;
  /** The last `Host` seen and the URL origin made of it: clients repeat it. */
  host: string | undefined;
  origin: string;
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
  reader: ChunkReader | undefined;
  /** Ends the response writer's wait for a slow client. */
  wake: (() => void) | undefined;
  /** The socket closed before the response was handed over whole. */
  gone: boolean;
}

const states = new WeakMap<Socket, SocketState>();

/** An exchange that has touched neither message yet: a middleware may still pass it on. */
export function createExchange(req: IncomingMessage, res: ServerResponse): Exchange {
  const { headers } = req;
  const length = headers["content-length"];
  const hasBody = headers["transfer-encoding"] !== undefined || (length !== undefined && length !== "0");
  return {
    req,
    res,
    state: states.get(req.socket) ?? createSocketState(req.socket),
    body: hasBody ? createRequestBody(req, res) : undefined,
    controller: undefined,
    reader: undefined,
    wake: undefined,
    gone: false,
  };
}

/** Takes the exchange over: from here on its end is watched. */
export function openExchange(exchange: Exchange): void {
  const { req, res, state } = exchange;
  // A host's own work before ours may have outlasted the client.
  if (req.socket.destroyed) {
    abandonExchange(exchange);
    return;
  }
  state.exchanges.add(exchange);
  res.on("finish", () => state.exchanges.delete(exchange));
  res.on("timeout", (socket: Socket) => endIdle(exchange, socket));
}

/** Whether nothing is under way on a socket: no request seen, or every response handed over. */
export function isIdle(socket: Socket): boolean {
  const state = states.get(socket);
  return state === undefined || (state.exchanges.size === 0 && !state.ending);
}

function createSocketState(socket: Socket): SocketState {
  const scheme = "encrypted" in socket && socket.encrypted === true ? "https" : "http";
  const exchanges = new Set<Exchange>();
  const origin = `${scheme}://localhost`;
  const connection = toConnection(socket);
  const state: SocketState = { scheme, connection, exchanges, ending: false, host: undefined, origin };
  states.set(socket, state);
  // Not the response's own `close`: a pipelined response whose turn has not come gets none.
  socket.on("close", () => {
    exchanges.forEach(abandonExchange);
    exchanges.clear();
  });
  return state;
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

/** A silent socket is the client's fault where we wait for its bytes or it does not take ours; else the service is at work. */
function endIdle(exchange: Exchange, socket: Socket): void {
  const { res, body } = exchange;
  if (res.writableEnded || res.writableLength > 0 || body?.isWaiting()) socket.destroy();
  else socket.setTimeout(socket.timeout ?? 0);
}
