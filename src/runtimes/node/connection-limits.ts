import type { Server as HttpServer } from "node:http";
import type { Server as HttpsServer } from "node:https";
import type { Socket } from "node:net";
import { toNetwork } from "../../http/ip-network.ts";

/** The open connections of a server of ours. */
export interface Connections {
  /** Those that can carry requests. */
  readonly ready: ReadonlySet<Socket>;
  /** The raw ones that have not come through their TLS handshake, by their peer. */
  readonly unready: ReadonlyMap<string, Socket>;
}

/** Follows the connections of a server that does not listen yet. */
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

/** What a raw socket and the TLS socket around it have in common. */
function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

/** Closes each connection at once that is one too many of its address; of IPv6 the first 64 bits count. Those of a Unix socket have none. */
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
