import type { Socket } from "node:net";

/** Private state: in node:tls the stream below, and in node:net how that stream closes. */
interface SecureHandle {
  readonly _parent?: { readonly reset?: unknown } | null;
  readonly _parentWrap?: { resetAndClosing?: boolean } | null;
}

/**
 * Closes a connection by a RST: the system drops what it holds for the client, and the client cannot mistake a part for
 * the complete response. Unix sockets have no RST, and Node refuses one while it sends a FIN: those are destroyed.
 */
export function resetSocket(socket: Socket): void {
  const { writableEnded, writableLength, writableFinished } = socket;
  const sendsFin = writableEnded && writableLength === 0 && !writableFinished;
  if (!sendsFin) {
    if ("encrypted" in socket) resetBelow(socket);
    else resetOwn(socket);
  }
  socket.destroy();
}

/** A host may use another transport than TCP, for which Node throws. */
function resetOwn(socket: Socket): void {
  try {
    socket.resetAndDestroy();
  } catch {
    // The caller destroys it.
  }
}

/**
 * Marks the stream below TLS, which TLS destroys and waits for. If we destroyed it first, early versions of Node 20
 * would wait forever.
 */
function resetBelow(socket: Socket): void {
  const { _handle: handle } = socket as Socket & { readonly _handle?: SecureHandle | null };
  if (typeof handle?._parent?.reset === "function" && handle._parentWrap) handle._parentWrap.resetAndClosing = true;
}
