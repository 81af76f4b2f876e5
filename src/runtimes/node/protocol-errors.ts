import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { canRespond, endAfterResponses, isHeld, isIdle } from "./exchange.ts";

const statuses: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/**
 * Answers what the parser of node:http refuses, or waited for in vain, and ends the connection. Only ends it where the
 * client would take the answer for that to another request, which is answered first (RFC 9112, 9.6). For `clientError`.
 */
export function respondToProtocolError(error: NodeJS.ErrnoException, socket: Socket): void {
  // The rest of this head lies unread behind our own work.
  if (error.code === "ERR_HTTP_REQUEST_TIMEOUT" && isHeld(socket)) return;
  if (canRespond(socket)) endBlank(socket, statuses[error.code ?? ""] ?? 400);
  else if (!endAfterResponses(socket)) socket.destroy();
}

/** Answers CONNECT, which never reaches a request listener and at which Node itself hangs up. For `connect`. */
export function rejectTunnel(_req: unknown, socket: Socket): void {
  // From here on nobody else listens to the socket.
  socket.on("error", () => socket.destroy());
  if (isIdle(socket)) endBlank(socket, 501);
  else socket.destroy();
}

function endBlank(socket: Socket, status: number): void {
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
  socket.destroySoon();
}
