import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { canRespond, endAfterResponses, hasWaitingRequests, isIdle } from "./exchange.ts";

const statuses: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/**
 * Responds to a request that the parser of node:http has refused, or that did not arrive in time, and closes the
 * connection. Only closes it if the client would match the response to an earlier request (RFC 9112 9.6). For
 * `clientError`.
 */
export function respondToProtocolError(error: NodeJS.ErrnoException, socket: Socket): void {
  // We do not read the rest of this head while earlier requests wait.
  if (error.code === "ERR_HTTP_REQUEST_TIMEOUT" && hasWaitingRequests(socket)) return;
  if (canRespond(socket)) endWithStatus(socket, statuses[error.code ?? ""] ?? 400);
  else if (!endAfterResponses(socket)) socket.destroy();
}

/**
 * Responds to CONNECT, which never reaches a request listener; Node itself only closes the connection. For `connect`.
 */
export function rejectTunnel(_req: unknown, socket: Socket): void {
  // Node has removed its own listeners from the socket.
  socket.on("error", () => socket.destroy());
  if (isIdle(socket)) endWithStatus(socket, 501);
  else socket.destroy();
}

function endWithStatus(socket: Socket, status: number): void {
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  socket.destroySoon();
}
