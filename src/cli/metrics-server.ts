import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Logger } from "../contracts/logger.ts";
import { isGetOrHead } from "../http/methods.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { createFailure, describeSystemError } from "./failure.ts";
import { type ProcessUsages, renderProcesses } from "./process-metrics.ts";
import type { Readiness } from "./readiness.ts";

const UNCACHED = { "Cache-Control": "no-store" };

/** Metrics, and the address at which they are shown. */
export interface ShownMetrics extends Metrics {
  readonly host: string;
  readonly port: number;
}

/** What the metrics of events and requests do not contain. */
export interface ServiceState extends Pick<Readiness, "findReasons"> {
  /** What the processes of the service use now. */
  lookAtProcesses(): Promise<ProcessUsages>;
}

/**
 * Serves metrics, if there are any, at `/metrics` of an address of their own, which clients of the service need not
 * reach, and at `/ready` whether the service can work. Returns a function that stops the server. Rejects with a failure
 * if it cannot listen.
 */
export async function serveMetrics(
  metrics: ShownMetrics | undefined,
  logger: Logger | undefined,
  { findReasons, lookAtProcesses }: ServiceState,
): Promise<() => Promise<void>> {
  if (metrics === undefined) return async () => undefined;
  const { host, port } = metrics;
  const pages: Readonly<Record<string, (response: ServerResponse) => Promise<void>>> = {
    async "/metrics"(response) {
      const text = metrics.render() + renderProcesses(await lookAtProcesses());
      response.writeHead(200, { "Content-Type": metrics.contentType, ...UNCACHED }).end(text);
    },
    async "/ready"(response) {
      const reasons = await findReasons();
      if (reasons.length === 0) response.writeHead(204, UNCACHED).end();
      else response.writeHead(503, { "Content-Type": "text/plain; charset=utf-8", ...UNCACHED }).end(toText(reasons));
    },
  };
  const server = createServer(({ url = "", method }, response) => {
    const path = url.split("?", 1)[0] ?? "";
    const show = Object.hasOwn(pages, path) ? pages[path] : undefined;
    if (show === undefined) response.writeHead(404).end();
    else if (isGetOrHead(method)) void show(response);
    else response.writeHead(405, { Allow: "GET, HEAD" }).end();
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

function toText(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}
