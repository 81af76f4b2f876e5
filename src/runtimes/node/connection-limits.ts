import type { Server as HttpServer } from "node:http";
import type { Server as HttpsServer } from "node:https";
import type { Socket } from "node:net";
import { toNetwork } from "../../http/ip-network.ts";

/** The open connections of a server. */
export interface Connections {
  /** Connections that can carry requests. */
  readonly ready: ReadonlySet<Socket>;
  /** Connections that have not finished their TLS handshake, by their peer. */
  readonly unready: ReadonlyMap<string, Socket>;
}

/** Tracks the connections of a server. Call it before the server listens. */
export function trackConnections(server: HttpServer | HttpsServer, isSecure: boolean): Connections {
  const ready = new Set<Socket>();
  const unready = new Map<string, Socket>();
  server.on(isSecure ? "secureConnection" : "connection", (socket: Socket) => {
    unready.delete(peerOf(socket));
    ready.add(socket);
    socket.on("close", () => ready.delete(socket));
  });
  if (isSecure) {
    server.on("connection", (socket: Socket) => {
      const peer = peerOf(socket);
      unready.set(peer, socket);
      socket.on("close", () => {
        if (unready.get(peer) === socket) unready.delete(peer);
      });
    });
  }
  return { ready, unready };
}

/** A key that a raw socket and the TLS socket around it share. */
function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

/**
 * Closes new connections over the limit of their address; for IPv6 its first 64 bits count. Connections of a Unix
 * socket have no address and no limit.
 */
export function limitPerAddress(server: HttpServer | HttpsServer, most: number): void {
  const counts = new Map<string, number>();
  server.on("connection", (socket: Socket) => {
    if (socket.remoteAddress === undefined) return;
    const network = toNetwork(socket.remoteAddress);
    const count = counts.get(network) ?? 0;
    if (count >= most) {
      socket.destroy();
      return;
    }
    counts.set(network, count + 1);
    socket.on("close", () => {
      const left = (counts.get(network) ?? 0) - 1;
      if (left > 0) counts.set(network, left);
      else counts.delete(network);
    });
  });
}
