import type { Exchange } from "./exchange.ts";

/** How much of a refused body is read and thrown away, so that small ones end without a RST. */
const discardedBytes = 256 * 1024;

/**
 * Settles a request body that the service has not read to its end. What has arrived whole is dropped and the
 * connection stays. Anything else is a refused upload (CONTRACT 4.3): true, and the response must say `Connection: close`.
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
 * Has the socket end in the client's favour. Node closes a socket right after the last response, and a close over
 * unread bytes makes the kernel send a RST, at which many clients throw the answer away (RFC 9112, 9.6). So: half-close,
 * read a bounded amount, and close when the client does or the time is over.
 */
function lingerAtEnd({ req }: Exchange, milliseconds: number): void {
  const { socket } = req;
  // The method with which node:http ends a connection after its last response.
  const destroySoon = socket.destroySoon.bind(socket);
  socket.destroySoon = () => {
    socket.end();
    const timer = setTimeout(() => socket.destroy(), milliseconds);
    socket.on("close", () => clearTimeout(timer));
    let discarded = 0;
    req.on("data", (chunk: Uint8Array) => {
      discarded += chunk.byteLength;
      // A paused message fills its small buffer and stops the socket. (Pausing the socket too would keep node:http from it.)
      if (discarded >= discardedBytes) req.pause();
    });
    req.on("end", destroySoon);
    req.resume();
  };
}
