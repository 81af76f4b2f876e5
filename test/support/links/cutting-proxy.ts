import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A proxy that breaks connections off. */
export interface CuttingProxy {
  readonly port: number;
  readonly origin: string;
  /** How many connections it has cut. */
  cuts(): number;
  close(): Promise<void>;
}

/** When a connection is cut. */
export interface CutOptions {
  /** After how many bytes of the client. A function gets the number of cuts so far. */
  readonly bytes: number | ((cuts: number) => number);
  /** The number of cuts, after which connections stay. Default: every connection is cut. */
  readonly times?: number;
}

/**
 * Starts a proxy between clients and a port. It forwards what a client sends up to the cut. Then the server sees the
 * end of the connection in the middle of a request, and the client sees a reset.
 */
export async function startCuttingProxy(
  target: () => number,
  { bytes, times = Number.POSITIVE_INFINITY }: CutOptions,
): Promise<CuttingProxy> {
  const sockets = new Set<Socket>();
  let cuts = 0;

  function join(client: Socket): void {
    const service = connect(target(), "127.0.0.1");
    for (const socket of [client, service]) {
      sockets.add(socket);
      socket.on("error", () => undefined).on("close", () => sockets.delete(socket));
    }
    let left = typeof bytes === "number" ? bytes : bytes(cuts);
    client.on("data", (data) => {
      if (data.byteLength < left || cuts >= times) {
        left -= data.byteLength;
        if (service.write(data)) return;
        client.pause();
        service.once("drain", () => client.resume());
        return;
      }
      cuts += 1;
      client.removeAllListeners("data").resetAndDestroy();
      service.removeAllListeners("data").resume().end(data.subarray(0, left));
    });
    client.on("end", () => service.end());
    service.on("data", (data) => client.write(data)).on("close", () => client.destroy());
    client.on("close", () => service.end());
  }

  const server = createServer(join).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    port,
    origin: `http://127.0.0.1:${port}`,
    cuts: () => cuts,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
