import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { toServiceConfig } from "../config/service-config.ts";
import type { FileService } from "../contracts/file-service.ts";
import { closeNodeServer, createNodeServer } from "../runtimes/node-server.ts";
import { createFileService } from "../service.ts";
import { logRequests } from "./access-log.ts";
import { createFailure, describeSystemError, toFailure } from "./failure.ts";
import { createJsonLogger } from "./json-log.ts";
import { keepMemorySmall } from "./memory.ts";
import { serveMetrics } from "./metrics-server.ts";
import type { ServeSettings } from "./serve-settings.ts";
import type { Output } from "./terminal.ts";

/** Where `serve` prints: the address on `stdout`, the log on `stderr`. */
export interface ServeOutputs {
  readonly stdout: Output;
  readonly stderr: Output;
  /** Whether requests go unlogged. */
  readonly quiet: boolean;
}

type Signal = "SIGINT" | "SIGTERM";

const exitStatuses: Readonly<Record<Signal, number>> = { SIGINT: 130, SIGTERM: 143 };

/** npm passes on a signal that the terminal has sent to the whole group already: two within so many milliseconds are one. */
const echoMilliseconds = 200;

/**
 * Serves until SIGINT or SIGTERM, then finishes what is under way and resolves. A second signal ends the process at once.
 * Rejects with a failure when the start does not succeed.
 */
export async function serve(settings: ServeSettings, outputs: ServeOutputs): Promise<void> {
  const stop = stopSignal(() => logStop(settings, outputs));
  const { metrics, sinks = [] } = settings;
  const service = createFileService(settings.service);
  try {
    await start(() => service.start());
    const endMetrics = await serveMetrics(metrics, (port) =>
      settings.service.logger?.info({ port }, "Metrics are shown at /metrics."),
    );
    try {
      await serveUntil(stop, metrics?.measure(service) ?? service, settings, outputs);
    } finally {
      await endMetrics();
    }
  } finally {
    await service.close();
    await Promise.all(sinks.map((sink) => sink.close()));
  }
}

async function serveUntil(
  stop: Promise<void>,
  service: FileService,
  settings: ServeSettings,
  { stdout, stderr, quiet }: ServeOutputs,
): Promise<void> {
  const { host, port, tls, logFormat = "text" } = settings;
  const server = createNodeServer(service, tls === undefined ? {} : { tls });
  if (!quiet) logRequests(server, stderr, logFormat);
  keepMemorySmall();
  await listen(server, host, port);
  stdout.write(`Listening on ${toUrl(settings, (server.address() as AddressInfo).port)}\n`);
  await stop;
  await closeNodeServer(server);
}

async function start(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw toFailure(error) === undefined ? createFailure(1, [`error: ${(error as Error).message}`]) : error;
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

function logStop({ logFormat }: ServeSettings, { stderr, quiet }: ServeOutputs): void {
  const message = "Stopping: finishing what is under way.";
  if (logFormat === "json") createJsonLogger(stderr, { quiet }).info({}, message);
  else if (!quiet) stderr.write(`${message}\n`);
}

/** Resolves at the first signal; from then on the next one ends the process. */
function stopSignal(onStop: () => void): Promise<void> {
  return new Promise((resolve) => {
    let stoppedAt: number | undefined;

    function onSignal(signal: Signal): void {
      if (stoppedAt === undefined) {
        stoppedAt = performance.now();
        onStop();
        resolve();
      } else if (performance.now() - stoppedAt > echoMilliseconds) {
        process.exit(exitStatuses[signal]);
      }
    }

    process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
  });
}
