import type { Exchange } from "./exchange.ts";

/** How many bytes of a refused body are read and discarded, so that small ones end without a RST. */
const discardedBytes = 256 * 1024;

/**
 * Handles a request body that the service has not read to its end. If the body has arrived completely, it is discarded
 * and the connection stays. Otherwise this is a refused upload: returns true, and the response must say
 * `Connection: close` (CONTRACT 4.3).
 */
export function closeLingering(exchange: Exchange, lingerMilliseconds: number): boolean {
  const { req, body, state } = exchange;
  if (body === undefined || req.readableEnded) return false;
  if (req.complete) {
    req.resume();
    return false;
  }
  body.stop();
  state.lingering = true;
  lingerAtEnd(exchange, lingerMilliseconds);
  return true;
}

/**
 * Lingering close: lets the client read the response before the socket closes. Node closes a socket immediately after
 * the last response, and with unread bytes the kernel then sends a RST, at which many clients drop the response. So
 * this half-closes, reads a limited number of bytes, and closes when the client does or the time is over (RFC 9112
 * 9.6).
 */
function lingerAtEnd({ req }: Exchange, milliseconds: number): void {
  const { socket } = req;
  // node:http calls this method to close a connection after its last response.
  const destroySoon = socket.destroySoon.bind(socket);
  socket.destroySoon = () => {
    socket.end();
    const timer = setTimeout(() => socket.destroy(), milliseconds);
    socket.on("close", () => clearTimeout(timer));
    let discarded = 0;
    req.on("data", (chunk: Uint8Array) => {
      discarded += chunk.byteLength;
      // node:http stops reading the socket when the paused message has filled its small buffer. It would not if the
      // socket were paused here too.
      if (discarded >= discardedBytes) req.pause();
    });
    req.on("end", destroySoon);
    req.resume();
  };
}
