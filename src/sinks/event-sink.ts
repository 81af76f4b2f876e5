import type { FileEvent } from "../contracts/events/file-event.ts";
import { createEventBuffer, type HeldEvent } from "./event-buffer.ts";

/** Delivers events to another place: pass it to a service as `onEvent`. It never throws and never delays a request. */
export interface EventSink {
  (event: FileEvent): void;
  /** The number of events that did not fit into the queue or could not be delivered. */
  dropped(): number;
  /** Accepts no more events; resolves when the queued ones are delivered or given up. */
  close(): Promise<void>;
}

/** An event in the queue. Its JSON is made on arrival, so later changes by another listener do not matter. */
export interface QueuedEvent extends HeldEvent {
  readonly json: string;
}

/**
 * Delivers queued events; resolves when they are delivered or given up. It may call `expect` with the milliseconds that
 * the next step may take: after that time the queue considers the delivery lost.
 */
export type Deliver = (events: readonly QueuedEvent[], expect: (milliseconds: number) => void) => Promise<void>;

/** Options of {@link createSinkQueue}. */
export interface SinkQueueOptions {
  /** The number of events that wait at most. */
  readonly capacity: number;
  /** The number of events in one delivery at most. */
  readonly batch: number;
  readonly deliver: Deliver;
  /** Called for the first event that does not fit, and again only after a delivery made room. */
  readonly onFull: () => void;
  /**
   * Called with the number of events whose delivery never settled: edge runtimes end work that continues long after its
   * request.
   */
  readonly onLost?: (count: number) => void;
}

/** The events that wait for a sink, which has one delivery at a time. */
export interface SinkQueue {
  /**
   * Returns how many events were dropped because the queue is full: earlier ones or this one, as `EventBuffer` chooses.
   * @throws the error of `JSON.stringify`.
   */
  add(event: FileEvent): number;
  /** Resolves when the queue is empty. */
  drain(): Promise<void>;
}

/** Characters of JSON, in the queue and in one delivery. */
const MAX_HELD = 16_777_216;
const MAX_BATCH = 262_144;

const GRACE_MS = 5000;

/** One loop of deliveries, until the queue is empty. */
interface Run {
  readonly done: Promise<void>;
  /** When the run counts as lost, in POSIX milliseconds. */
  dueBy: number;
  /** The number of events in the current delivery. */
  count: number;
}

export function createSinkQueue({ capacity, batch, deliver, onFull, onLost }: SinkQueueOptions): SinkQueue {
  const queued = createEventBuffer<QueuedEvent>({ capacity, maxSize: MAX_HELD });
  let running: Run | undefined;
  let isFull = false;

  async function deliverAll(run: Run): Promise<void> {
    while (!queued.isEmpty()) {
      const events = queued.take(batch, MAX_BATCH);
      run.count = events.length;
      await deliver(events, (milliseconds) => {
        run.dueBy = Date.now() + milliseconds + GRACE_MS;
      });
      // This run counts as lost, and another one has replaced it.
      if (running !== run) return;
      isFull = false;
    }
    running = undefined;
  }

  function start(): Run {
    const state = { dueBy: Number.POSITIVE_INFINITY, count: 0 };
    // A microtask later: the request that emits the first event does not wait for the delivery.
    const run: Run = Object.assign(state, { done: Promise.resolve().then(() => deliverAll(run)) });
    return run;
  }

  function add(event: FileEvent): number {
    const json = toJson(event);
    const dropped = queued.add({ event, json, size: json.length });
    if (dropped > 0) {
      if (!isFull) onFull();
      isFull = true;
    }
    if (running !== undefined && Date.now() > running.dueBy) {
      onLost?.(running.count);
      running = undefined;
    }
    running ??= start();
    return dropped;
  }

  return { add, drain: () => running?.done ?? Promise.resolve() };
}

/** The last event and its JSON: several sinks get the same event, one after the other. */
let last: { readonly event: FileEvent; readonly json: string } | undefined;

function toJson(event: FileEvent): string {
  if (last?.event !== event) last = { event, json: JSON.stringify(event) };
  return last.json;
}
