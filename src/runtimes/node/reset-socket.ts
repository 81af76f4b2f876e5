import type { Socket } from "node:net";

/** What node:tls has of the stream that it speaks over, and node:net of the way in which that ends. */
interface SecureHandle {
  readonly _parent?: { readonly reset?: unknown } | null;
  readonly _parentWrap?: { resetAndClosing?: boolean } | null;
}

/**
 * Ends a connection by a RST, so that the system drops what it holds for the client, and the client cannot take what it has for the whole. Unix sockets know none,
 * nor may one come in the moment in which a FIN is sent: those are destroyed.
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

/** A host may have put something else below than TCP, which Node answers by throwing. */
function resetOwn(socket: Socket): void {
  try {
    socket.resetAndDestroy();
  } catch {
    // Destroyed as any other.
  }
}

/** TLS destroys the stream below by itself, and waits for that: one that was destroyed before would let it wait for ever on early versions of Node 20. */
function resetBelow(socket: Socket): void {
  const { _handle: handle } = socket as Socket & { readonly _handle?: SecureHandle | null };
  if (typeof handle?._parent?.reset === "function" && handle._parentWrap) handle._parentWrap.resetAndClosing = true;
}
