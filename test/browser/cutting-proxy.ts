import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import type { Site } from "./site.ts";

/** A proxy in front of a site whose connections break. */
export interface CuttingProxy {
  /** The site as it is seen through the proxy. */
  readonly site: Site;
  /** Breaks each connection after it has carried this number of bytes to the site. `Infinity`: never. */
  cutAfter(bytes: number): void;
  /** Holds back what a connection carries to the site after this number of bytes, until it is cut. */
  holdAfter(bytes: number): void;
  /** Breaks all connections. */
  cut(): void;
}

/** Starts a proxy, gone after the test. */
export async function openCuttingProxy(site: Site): Promise<CuttingProxy> {
  const clients = new Set<Socket>();
  let cutAt = Number.POSITIVE_INFINITY;
  let holdAt = Number.POSITIVE_INFINITY;

  const server = createServer((client) => {
    const upstream = connect({ port: Number(new URL(site.origin).port), host: "127.0.0.1" });
    let carried = 0;
    let isHeld = false;
    clients.add(client);
    client.on("data", (chunk) => {
      carried += chunk.length;
      upstream.write(chunk);
      if (carried >= cutAt) client.destroy();
      isHeld ||= carried >= holdAt;
      if (isHeld || upstream.writableNeedDrain) client.pause();
    });
    upstream.on("drain", () => isHeld || client.resume());
    client.on("close", () => {
      clients.delete(client);
      upstream.destroy();
    });
    client.on("error", () => undefined);
    upstream.on("error", () => undefined);
    upstream.on("close", () => client.destroy());
    upstream.pipe(client);
  });

  function cut(): void {
    for (const client of clients) client.destroy();
  }

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    cut();
    server.close();
  });
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    site: { ...site, origin, home: site.home.replace(site.origin, origin) },
    cut,
    cutAfter(bytes) {
      cutAt = bytes;
    },
    holdAfter(bytes) {
      holdAt = bytes;
    },
  };
}
