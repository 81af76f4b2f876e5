import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { toServiceConfig } from "../../config/service-config.ts";
import { measureService } from "../../metrics/measure-service.ts";
import { closeNodeServer, createNodeServer } from "../../runtimes/node/server.ts";
import { createFileService } from "../../service/service.ts";
import { createApiPage } from "../../views/create-api-page.ts";
import type { ServeSettings } from "../config/serve-settings.ts";
import { createFailure, describeSystemError, failureOf } from "../failure.ts";
import { collectReceivedChunks } from "../heap.ts";
import { logRequests } from "../log/access-log.ts";
import type { Output } from "../log/terminal.ts";
import { serveMetrics } from "../metrics-server.ts";
import { stopSignal } from "../stop-signal.ts";
import { openStores } from "../stores.ts";
import { sweepRegularly } from "../sweeps.ts";

/** The outputs of `serve`: the address goes to `stdout`, the log to `stderr`. */
export interface ServeOutputs {
  readonly stdout: Output;
  readonly stderr: Output;
  /** Whether requests are not logged. */
  readonly quiet: boolean;
}

/**
 * The control of a server in a worker: `onListening` reports its address, and `stop` resolves when the server must
 * stop.
 */
export interface ServeOrders {
  readonly stop: Promise<void>;
  onListening(address: { readonly url: string; readonly port: number }): void;
}

/**
 * Serves until SIGINT or SIGTERM, or until `orders.stop` resolves. Then it finishes the requests in progress, or cuts
 * them at the deadline, and resolves. A second signal ends the process immediately. Rejects with a failure if the start
 * fails. In any case it closes everything that it opened.
 */
export async function serve(settings: ServeSettings, outputs: ServeOutputs, orders?: ServeOrders): Promise<void> {
  const { stop, onListening } = orders ?? toOwnOrders(settings, outputs);
  const { host, port, tls, connections = {}, metrics, onRequest, sinks = [] } = settings;
  const closers: (() => unknown)[] = [() => Promise.all(sinks.map((sink) => sink.close()))];
  try {
    const service = createFileService({ ...(await openStores(settings, closers)), apiPage: createApiPage() });
    closers.push(service.close);
    await start(async () => {
      await settings.checkStorage?.();
      await service.start();
    });
    const measured = onRequest === undefined ? service : measureService(service, onRequest);
    const server = createNodeServer(measured, { ...connections.limits, ...(tls !== undefined && { tls }) });
    if (!outputs.quiet) logRequests(server, outputs.stderr, settings.logFormat ?? "text");
    collectReceivedChunks();
    closers.push(await serveMetrics(metrics, settings.service.logger));
    await listen(server, host, port);
    closers.push(() => closeNodeServer(server, { deadlineSeconds: connections.deadlineSeconds ?? 0 }));
    closers.push(sweepRegularly(service, { logger: settings.service.logger }));
    const bound = (server.address() as AddressInfo).port;
    onListening({ url: toUrl(settings, bound), port: bound });
    await stop;
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

function toOwnOrders({ logFormat }: ServeSettings, outputs: ServeOutputs): ServeOrders {
  return {
    stop: stopSignal({ ...outputs, logFormat }),
    onListening: ({ url }) => void outputs.stdout.write(`Listening on ${url}\n`),
  };
}

async function start(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw failureOf(error) === undefined ? createFailure(1, [`error: ${(error as Error).message}`]) : error;
  }
}

async function listen(server: ReturnType<typeof createNodeServer>, host: string, port: number): Promise<void> {
  try {
    server.listen({ host, port });
    await once(server, "listening");
  } catch (error) {
    throw createFailure(1, [`error: cannot listen on ${toAuthority(host, port)}: ${describeSystemError(error)}`]);
  }
}

function toUrl({ host, tls, service }: ServeSettings, port: number): string {
  const { basePath } = toServiceConfig(service);
  return `${tls === undefined ? "http" : "https"}://${toAuthority(host, port)}${basePath}/`;
}

function toAuthority(host: string, port: number): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}
