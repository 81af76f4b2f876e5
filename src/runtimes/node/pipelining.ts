import type { Socket } from "node:net";
import {
  abandonExchange,
  cutSlow,
  dropWaiting,
  type Exchange,
  isClientDue,
  type SocketState,
  stopReading,
} from "./exchange.ts";
import { isDraining } from "./shutdown.ts";

/*
 * The order of the requests on a socket (RFC 9112 9.3.2): one is in progress, and the ones after it wait.
 */

/**
 * The most requests that may wait after one of the same socket. No real client sends as many ahead. An attacker can put
 * thousands of requests into one chunk of bytes, and Node parses the whole chunk: each request takes some 2 KiB.
 */
const MAX_WAITING = 128;

/**
 * Takes an exchange over and tracks its end. A socket has one exchange in progress at a time, or one client could have
 * thousands. A pipelined exchange gets a promise that resolves when the previous ones are done, and never if the client
 * disconnects before. A client with too many of them is disconnected.
 */
export function openExchange(exchange: Exchange): Promise<void> | undefined {
  const { req, res, state } = exchange;
  if (state.waiting.length >= MAX_WAITING) {
    req.socket.destroy();
    return new Promise(() => undefined);
  }
  // The client may have disconnected while the host did its own work.
  if (req.socket.destroyed) {
    abandonExchange(exchange);
    return undefined;
  }
  res.on("finish", () => finishExchange(exchange));
  res.on("timeout", (socket: Socket) => onIdleTimeout(exchange, socket));
  if (state.current !== undefined) {
    return new Promise((start) => {
      state.waiting.push({ exchange, start });
      stopReading(req.socket);
    });
  }
  // After the last response of a draining server nothing is started.
  if (!req.socket.writable && isDraining(state)) return new Promise(() => undefined);
  state.current = exchange;
  return undefined;
}

/** Starts the next request when a response is sent. */
function finishExchange(exchange: Exchange): void {
  const { req, state } = exchange;
  if (state.current !== exchange) return;
  state.current = undefined;
  if (state.waiting.length > 0) startNext(state, req.socket);
  else if (state.unreadable) req.socket.destroySoon();
}

function startNext(state: SocketState, socket: Socket): void {
  // After a response that closes the connection no other can be sent, so no request may be processed (RFC 9112 9.6).
  if (!socket.writable) dropWaiting(state);
  let next = state.waiting.shift();
  // The host may have responded itself, for example after a timeout of its own.
  while (next?.exchange.res.writableEnded) next = state.waiting.shift();
  // The invalid bytes are the rest of its body.
  if (state.unreadable && next?.exchange.req.complete !== true) {
    if (next !== undefined) abandonExchange(next.exchange);
    socket.destroySoon();
    return;
  }
  state.current = next?.exchange;
  if (state.waiting.length === 0) socket.resume();
  if (next !== undefined) startLater(next);
}

/**
 * Starts a request in a later turn of the event loop. Otherwise one socket with many requests could keep all other
 * sockets waiting.
 */
function startLater({ exchange, start }: SocketState["waiting"][number]): void {
  setImmediate(() => {
    if (!exchange.isDisconnected) start();
  });
}

/**
 * Cuts an idle socket if we wait for the client's bytes, or the client does not read ours; otherwise the service is
 * working. A client that has half-closed may wait for the response or be disconnected: it gets one idle time.
 */
function onIdleTimeout(exchange: Exchange, socket: Socket): void {
  const { timeout = 0 } = socket;
  if (isClientDue(exchange) || socket.readableEnded) cutSlow(exchange);
  else socket.setTimeout(timeout);
}
