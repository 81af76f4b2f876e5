import type { FileEvent, OnEvent } from "../contracts/events/file-event.ts";
import { checkOption } from "../contracts/option-error.ts";
import { TRANSFER_ENDS, TRANSFER_STARTS } from "../events/transfers-in-progress.ts";
import { type MeasuredRequest, measureService } from "./measure-service.ts";
import { type Family, renderFamilies } from "./prometheus-text.ts";
import { createHistogram, createTally } from "./tally.ts";

/** Counts requests, events and transfers of one or more services, in the format of Prometheus. */
export interface Metrics {
  /** Counts events: pass it to the service as `onEvent`. */
  readonly onEvent: OnEvent;
  /**
   * Wraps a service so that its requests are counted: by method and status, with the seconds until the response
   * started. Most requests have no event.
   */
  measure<Service extends Parameters<typeof measureService>[0]>(service: Service): Service;
  /** Counts a request that was measured elsewhere, such as in another process. */
  onRequest(request: MeasuredRequest): void;
  /** All metrics in the text format of Prometheus, version 0.0.4. */
  render(): string;
  /** The media type of {@link Metrics.render}. */
  readonly contentType: string;
}

/** Options of {@link createMetrics}. */
export interface MetricsOptions {
  /** The beginning of the name of each metric. Default: `fileferry`. */
  readonly prefix?: string;
  /**
   * Seconds after which a session that was not ended no longer counts: the service's `session.maxSeconds`. Default:
   * 43200.
   */
  readonly sessionSeconds?: number;
  /** The time in POSIX milliseconds. Default: `Date.now`. */
  readonly clock?: () => number;
}

/** Upper bounds in seconds: from content in memory to large files on slow connections. */
const BUCKETS = [0.005, 0.025, 0.1, 0.5, 2.5, 10, 60, 300, 1800, 7200] as const;

/** Operations that have only one event. */
const OPERATIONS: Readonly<Partial<Record<FileEvent["id"], readonly [operation: string, outcome: string]>>> = {
  40000: ["login", "failed"],
  40007: ["login", "done"],
  40010: ["create-folder", "done"],
  40011: ["create-folder", "failed"],
  40030: ["create-folder", "failed"],
  40012: ["remove-file", "done"],
  40013: ["remove-file", "failed"],
  40026: ["remove-folder", "done"],
  40027: ["remove-folder", "failed"],
  40055: ["move", "done"],
  40056: ["move", "failed"],
  49001: ["copy", "done"],
  49002: ["copy", "failed"],
  49003: ["lock", "done"],
  49004: ["lock", "failed"],
  49005: ["unlock", "done"],
  49006: ["set-attributes", "done"],
  49007: ["set-attributes", "failed"],
  49111: ["restore", "done"],
  49112: ["purge", "done"],
  49113: ["purge-version", "done"],
  40035: ["download", "not-opened"],
  40019: ["request", "bad"],
  40023: ["request", "failed"],
};

/**
 * Creates metrics: requests, events by identifier, operations by outcome, transfers in progress with their bytes and
 * durations, sessions, and refusals by links. Labels hold no names or paths, so the number of time series does not
 * grow with the files and accounts.
 * @throws OptionError
 */
export function createMetrics(options: MetricsOptions = {}): Metrics {
  const { prefix = "fileferry", sessionSeconds = 43_200, clock = Date.now } = options;
  const isPrefix = typeof prefix === "string" && /^[a-zA-Z_:][\w:]*$/.test(prefix);
  checkOption(isPrefix, "prefix", "the beginning of a metric's name");
  const events = createTally();
  const operations = createTally();
  const linkRefusals = createTally();
  const active = createTally();
  const bytes = createTally();
  const seconds = createHistogram(BUCKETS);
  const sessions = createSessionCount(sessionSeconds, clock);
  const requests = createTally();
  const responseSeconds = createHistogram(BUCKETS);

  function onEvent(event: FileEvent): void {
    const { id } = event;
    events.add({ id: String(id) });
    const kind = TRANSFER_STARTS[id];
    if (kind !== undefined) active.add({ kind });
    const end = TRANSFER_ENDS[id];
    if (end !== undefined) countEnd(event, ...end);
    const operation = OPERATIONS[id];
    if (operation !== undefined) operations.add({ operation: operation[0], outcome: operation[1] });
    if (event.id === 40043)
      operations.add({ operation: "trigger", outcome: event.data.details === null ? "done" : "failed" });
    if (event.id === 49103) linkRefusals.add({ reason: event.data.reason });
    const { timestamp } = event.timestamp;
    if (event.id === 40007 && event.data.session) sessions.begin(timestamp);
    if (event.id === 40015 || event.id === 40037) sessions.end(timestamp - event.data.duration);
  }

  function countEnd({ data }: FileEvent, kind: string, outcome: string): void {
    // An upload in several requests may have started in another process: then only the sum of both is right.
    active.add({ kind }, -1);
    operations.add({ operation: kind, outcome });
    if (!("duration" in data)) return;
    seconds.observe({ kind }, data.duration);
    if ("total_write" in data) bytes.add({ direction: "in" }, data.total_write);
    if ("total_read" in data) bytes.add({ direction: "out" }, data.total_read);
  }

  function onRequest({ method, status, seconds }: MeasuredRequest): void {
    requests.add({ method, status: String(status) });
    responseSeconds.observe({ method }, seconds);
  }

  function render(): string {
    const counter = (name: string, help: string, tally: ReturnType<typeof createTally>): Family => ({
      name: `${prefix}_${name}`,
      help,
      type: "counter",
      samples: tally.samples(),
    });
    return renderFamilies([
      counter("requests_total", "Requests by method and status.", requests),
      {
        name: `${prefix}_request_seconds`,
        help: "Time until the response started.",
        type: "histogram",
        samples: responseSeconds.samples(),
      },
      counter("events_total", "Events by their identifier.", events),
      counter("operations_total", "Operations by outcome.", operations),
      counter("links_refused_total", "Requests that links refused, by reason.", linkRefusals),
      counter("transferred_bytes_total", "Bytes of files, listings and archives.", bytes),
      { name: `${prefix}_transfers_active`, help: "Transfers in progress.", type: "gauge", samples: active.samples() },
      {
        name: `${prefix}_transfer_seconds`,
        help: "Duration of transfers.",
        type: "histogram",
        samples: seconds.samples(),
      },
      {
        name: `${prefix}_sessions_active`,
        help: "Sessions that have started, have not ended and are not past their maximum age.",
        type: "gauge",
        samples: [{ labels: {}, value: sessions.count() }],
      },
    ]);
  }

  return {
    onEvent,
    onRequest,
    measure: (service) => measureService(service, onRequest, clock),
    render,
    contentType: "text/plain; version=0.0.4; charset=utf-8",
  };
}

/**
 * Counts sessions by the minute of their start, so the memory does not grow with their number. Most sessions have no
 * end event: they expire unused.
 */
function createSessionCount(sessionSeconds: number, clock: () => number) {
  const startedAt = new Map<number, number>();

  function toMinute(seconds: number): number {
    return Math.floor(seconds / 60);
  }

  function forgetOld(): void {
    const oldest = toMinute(clock() / 1000 - sessionSeconds) - 1;
    for (const minute of startedAt.keys()) {
      if (minute > oldest) break;
      startedAt.delete(minute);
    }
  }

  function begin(seconds: number): void {
    const minute = toMinute(seconds);
    forgetOld();
    startedAt.set(minute, (startedAt.get(minute) ?? 0) + 1);
  }

  /** The login event comes a moment after the session started, so it may be in the next minute. */
  function end(seconds: number): void {
    const minute = toMinute(seconds);
    const found = [minute, minute + 1].find((each) => (startedAt.get(each) ?? 0) > 0);
    if (found !== undefined) startedAt.set(found, (startedAt.get(found) ?? 0) - 1);
  }

  function count(): number {
    forgetOld();
    return [...startedAt.values()].reduce((sum, each) => sum + each, 0);
  }

  return { begin, end, count };
}
