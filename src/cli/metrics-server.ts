import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Logger } from "../contracts/logger.ts";
import { isGetOrHead } from "../http/methods.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { createFailure, describeSystemError } from "./failure.ts";

/** Metrics, and the address at which they are shown. */
export interface ShownMetrics extends Metrics {
  readonly host: string;
  readonly port: number;
}

/**
 * Serves metrics, if there are any, at `/metrics` of an address of their own, which clients of the service need not
 * reach. Returns a function that stops the server. Rejects with a failure if it cannot listen.
 */
export async function serveMetrics(
  metrics: ShownMetrics | undefined,
  logger: Logger | undefined,
): Promise<() => Promise<void>> {
  if (metrics === undefined) return async () => undefined;
  const { host, port } = metrics;
  const server = createServer((request, response) => {
    const isThere = request.url?.split("?", 1)[0] === "/metrics";
    const isRead = isGetOrHead(request.method);
    if (!isThere || !isRead) response.writeHead(isThere ? 405 : 404, isThere ? { Allow: "GET, HEAD" } : {}).end();
    else
      response
        .writeHead(200, { "Content-Type": metrics.contentType, "Cache-Control": "no-store" })
        .end(metrics.render());
  });
  try {
    server.listen({ host, port });
    await once(server, "listening");
    logger?.info({ port: (server.address() as AddressInfo).port }, "Metrics are available at /metrics.");
    return () => end(server);
  } catch (error) {
    throw createFailure(1, [`error: cannot serve metrics on ${host}:${port}: ${describeSystemError(error)}`]);
  }
}

async function end(server: Server): Promise<void> {
  const closed = once(server, "close");
  server.close();
  server.closeAllConnections();
  await closed;
}
