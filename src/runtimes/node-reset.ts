import type { Socket } from "node:net";

/** What node:tls has of the stream that it speaks over. */
interface SecureHandle {
  readonly _parentWrap?: Partial<Socket> | null;
}

/**
 * Ends a connection by a RST, so that the system drops what it holds for the client, and the client cannot take what it has for the whole: with TLS, too. Unix
 * sockets know none, nor does a socket that has sent its FIN: those are destroyed.
 */
export function resetSocket(socket: Socket): void {
  const { _handle: handle } = socket as Socket & { readonly _handle?: SecureHandle | null };
  const stream = "encrypted" in socket ? handle?._parentWrap : socket;
  const isOfTcp = socket.remoteAddress !== undefined && !socket.writableEnded;
  // What a host, or a runtime other than Node, has below TLS may know no reset.
  if (isOfTcp && typeof stream?.resetAndDestroy === "function") stream.resetAndDestroy();
  socket.destroy();
}
