import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { toServiceConfig } from "../../config/service-config.ts";
import { measureService } from "../../metrics/measure-service.ts";
import { closeNodeServer, createNodeServer } from "../../runtimes/node/server.ts";
import { createFileService } from "../../service/service.ts";
import { createApiPage } from "../../views/create-api-page.ts";
import type { ServeSettings } from "../config/serve-settings.ts";
import { toStoreList } from "../config/store-list.ts";
import { createFailure, describeSystemError, failureOf } from "../failure.ts";
import { collectReceivedChunks } from "../heap.ts";
import { logRequests } from "../log/access-log.ts";
import { withRequestNotes } from "../log/request-notes.ts";
import type { Output } from "../log/terminal.ts";
import { serveMetrics } from "../metrics-server.ts";
import { type ProcessUsage, type ProcessWatch, watchProcess } from "../process-usage.ts";
import { createReadiness } from "../readiness.ts";
import { createReloader, createReloadOrder } from "../reload.ts";
import { stopSignal } from "../stop-signal.ts";
import { openStores } from "../stores.ts";
import { sweepRegularly } from "../sweeps.ts";
import { traceIfSetUp } from "../tracing.ts";

/** The outputs of `serve`: the address goes to `stdout`, the log to `stderr`. */
export interface ServeOutputs {
  readonly stdout: Output;
  readonly stderr: Output;
  /** Whether requests are not logged. */
  readonly quiet: boolean;
  /** Opens the file of the log again. Absent: the log does not go to a file. */
  reopenLog?(): void;
  /** Called when the service listens, by the process that writes its address. */
  onListening?(): void;
}

/**
 * The control of a server in a worker: `onListening` reports its address, and `stop` resolves when the server must
 * stop.
 */
export interface ServeOrders {
  readonly stop: Promise<void>;
  /** Sets what is called when the configuration must be read again. */
  onReload(reload: () => void): void;
  onListening(address: { readonly url: string; readonly port: number }): void;
  /** Called regularly with what this process uses, if another process shows it. */
  onUsage?(usage: ProcessUsage): void;
}

/** How often a worker reports what it uses. */
const USAGE_MS = 5000;

/**
 * Serves until SIGINT or SIGTERM, or until `orders.stop` resolves. Then it finishes the requests in progress, or cuts
 * them at the deadline, and resolves. If it has not started yet, it opens no port. A second signal ends the process
 * immediately. Rejects with a failure if the start fails. In any case it closes everything that it opened.
 */
export async function serve(settings: ServeSettings, outputs: ServeOutputs, orders?: ServeOrders): Promise<void> {
  const { stop, onListening, onReload, onUsage } = orders ?? toOwnOrders(settings, outputs);
  const { host, port, tls, connections = {}, metrics, onRequest, sinks = [] } = settings;
  const { logger = console } = settings.service;
  const closers: (() => unknown)[] = [() => Promise.all(sinks.map((sink) => sink.close()))];
  try {
    const own = createFileService({ ...(await openStores(settings, closers)), apiPage: createApiPage() });
    const noted = withRequestNotes(own, toServiceConfig(settings.service));
    const service = await traceIfSetUp(noted, settings.service.logger ?? console);
    closers.push(service.close);
    const starting = start(async () => {
      await settings.checkStorage?.();
      await service.start();
    });
    // What is stopped before it has started must not open its port.
    if (!(await Promise.race([starting.then(() => true), stop.then(() => false)]))) return;
    const measured = onRequest === undefined ? service : measureService(service, onRequest);
    const server = createNodeServer(measured, { ...connections.limits, ...(tls !== undefined && { tls }) });
    if (!outputs.quiet) {
      logRequests(server, outputs.stderr, { format: settings.logFormat ?? "text", basePath: basePathOf(settings) });
    }
    collectReceivedChunks();
    const readiness = createReadiness({ probeStorage: settings.probeStorage, stores: toStoreList(settings) });
    if (onRequest !== undefined) {
      const watch = watchProcess();
      closers.push(watch.stop);
      const lookAtProcesses = async () => new Map([["", await watch.look()]]);
      closers.push(await serveMetrics(metrics, logger, { ...readiness, lookAtProcesses }));
      if (onUsage !== undefined) closers.push(reportRegularly(watch, onUsage));
    }
    const reloader = settings.reloads && createReloader(server, settings.reloads, logger);
    closers.push(() => reloader?.stop());
    onReload(() => {
      outputs.reopenLog?.();
      void reloader?.reload();
    });
    await listen(server, host, port);
    const endSweeps = sweepRegularly(service, { logger });
    const { deadlineSeconds = 0 } = connections;
    closers.push(() => Promise.all([closeNodeServer(server, { deadlineSeconds }), endSweeps()]));
    const bound = (server.address() as AddressInfo).port;
    readiness.enter("listening");
    onListening({ url: toUrl(settings, bound), port: bound });
    await stop;
    readiness.enter("stopping");
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

/** The orders of the user: signals. SIGHUP may also come while the service starts. */
function toOwnOrders({ logFormat, reloads }: ServeSettings, outputs: ServeOutputs): ServeOrders {
  const order = createReloadOrder(outputs.reopenLog);
  if (reloads !== undefined || outputs.reopenLog !== undefined) process.on("SIGHUP", order.give);
  return {
    stop: stopSignal({ ...outputs, logFormat }),
    onReload: order.onReload,
    onListening({ url }) {
      outputs.onListening?.();
      outputs.stdout.write(`Listening on ${url}\n`);
    },
  };
}

/** Reports what this process uses, at once and then regularly, until the function that it returns is called. */
function reportRegularly({ look }: ProcessWatch, report: (usage: ProcessUsage) => void): () => void {
  const lookAndReport = (): void => void look().then(report);
  lookAndReport();
  const timer = setInterval(lookAndReport, USAGE_MS);
  return () => clearInterval(timer);
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

function toUrl(settings: ServeSettings, port: number): string {
  const { host, tls } = settings;
  return `${tls === undefined ? "http" : "https"}://${toAuthority(host, port)}${basePathOf(settings)}/`;
}

function basePathOf({ service }: ServeSettings): string {
  return toServiceConfig(service).basePath;
}

function toAuthority(host: string, port: number): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}
