import type { OnEvent } from "../../contracts/events/file-event.ts";
import type { Logger } from "../../contracts/logger.ts";
import type { MeasuredRequest } from "../../metrics/measure-service.ts";
import { createMetrics } from "../../metrics/metrics.ts";
import type { EventSink } from "../../sinks/event-sink.ts";
import { createNdjsonSink } from "../../sinks/ndjson-node.ts";
import { createWebhookSink } from "../../sinks/webhook.ts";
import type { ShownMetrics } from "../metrics-server.ts";
import type { WorkerChannel } from "../workers/worker.ts";
import type { ConfigFile } from "./schema.ts";
import { defaultHost } from "./serve-settings.ts";
import { toWebhookOptions } from "./webhooks.ts";

/** The listeners of events and requests. */
export interface Listeners {
  /** Close them after the service has ended. */
  readonly sinks: readonly EventSink[];
  readonly metrics?: ShownMetrics;
  /** Called for each request, if requests are counted. */
  readonly onRequest?: (request: MeasuredRequest) => void;
  readonly listeners: readonly OnEvent[];
}

/** What the listeners of a configuration need. */
interface ListenersContext {
  readonly logger: Logger;
  /** In a worker: passes events and requests on to the primary process, which has the sinks. */
  readonly worker: Pick<WorkerChannel, "onEvent" | "onRequest"> | undefined;
  toPath(path: string): string;
}

/** Creates the sinks and metrics of a configuration; in a worker, listeners that pass events on to them. */
export function toListeners(config: ConfigFile, context: ListenersContext): Listeners {
  const { events = {}, metrics: metricsEntry, session } = config;
  const { file, webhooks = [], ...fileOptions } = events;
  const { logger, worker, toPath } = context;
  if (worker !== undefined) {
    const hasListeners = file !== undefined || webhooks.length > 0 || metricsEntry !== undefined;
    const { onEvent, onRequest } = worker;
    return { sinks: [], listeners: hasListeners ? [onEvent] : [], ...(metricsEntry !== undefined && { onRequest }) };
  }
  const sinks = [
    ...(file === undefined ? [] : [createNdjsonSink({ ...fileOptions, file: toPath(file), logger })]),
    ...webhooks.map((webhook) => createWebhookSink({ ...toWebhookOptions(webhook), logger })),
  ];
  if (metricsEntry === undefined) return { sinks, listeners: sinks };
  const { host = defaultHost, port } = metricsEntry;
  const metrics = {
    host,
    port,
    ...createMetrics(session?.maxSeconds === undefined ? {} : { sessionSeconds: session.maxSeconds }),
  };
  return { sinks, metrics, onRequest: metrics.onRequest, listeners: [...sinks, metrics.onEvent] };
}
