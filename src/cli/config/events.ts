import type { OnEvent } from "../../contracts/events/file-event.ts";
import type { Logger } from "../../contracts/logger.ts";
import type { MeasuredRequest } from "../../metrics/measure-service.ts";
import { createMetrics } from "../../metrics/metrics.ts";
import type { EventSink } from "../../sinks/event-sink.ts";
import { createNdjsonSink } from "../../sinks/ndjson-node.ts";
import { createWebhookSink } from "../../sinks/webhook.ts";
import type { ShownMetrics } from "../metrics-server.ts";
import type { WorkerChannel } from "../workers/worker.ts";
import { type ConfigFile, toWebhookOptions } from "./schema.ts";
import { defaultHost } from "./serve-settings.ts";

/** Who is told of events. */
export interface Listeners {
  /** Closed when the service has ended. */
  readonly sinks: readonly EventSink[];
  readonly metrics?: ShownMetrics;
  /** Who is told of requests, where they are counted. */
  readonly onAnswer?: (responded: MeasuredRequest) => void;
  readonly listeners: readonly OnEvent[];
}

/** Where a configuration's sinks are made, and by whom. */
interface ListenersContext {
  readonly logger: Logger;
  /** In a worker, which has none: passes them on to the process that has. */
  readonly worker: Pick<WorkerChannel, "tell" | "onAnswer"> | undefined;
  toPath(path: string): string;
}

/** Makes what the configuration has for events: its sinks and metrics, or the way to them. */
export function toListeners(config: ConfigFile, context: ListenersContext): Listeners {
  const { events = {}, metrics: metricsEntry, session } = config;
  const { file, webhooks = [], ...fileOptions } = events;
  const { logger, worker, toPath } = context;
  if (worker !== undefined) {
    const hasListeners = file !== undefined || webhooks.length > 0 || metricsEntry !== undefined;
    const { tell, onAnswer } = worker;
    return { sinks: [], listeners: hasListeners ? [tell] : [], ...(metricsEntry !== undefined && { onAnswer }) };
  }
  const sinks = [
    ...(file === undefined ? [] : [createNdjsonSink({ ...fileOptions, file: toPath(file), logger })]),
    ...webhooks.map((webhook) => createWebhookSink({ ...toWebhookOptions(webhook), logger })),
  ];
  if (metricsEntry === undefined) return { sinks, listeners: sinks };
  const { host = defaultHost, port } = metricsEntry;
  const metrics = { host, port, ...createMetrics({ sessionSeconds: session?.maxSeconds ?? 43_200 }) };
  return { sinks, metrics, onAnswer: metrics.onRequest, listeners: [...sinks, metrics.onEvent] };
}
