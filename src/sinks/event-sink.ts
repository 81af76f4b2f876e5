import type { FileEvent } from "../contracts/events/file-event.ts";
import { isRefusal } from "../events/refusals.ts";

/** Delivers events to another place: pass it to a service as `onEvent`. It never throws and never delays a request. */
export interface EventSink {
  (event: FileEvent): void;
  /** The number of events that did not fit into the queue or could not be delivered. */
  dropped(): number;
  /** Accepts no more events; resolves when the queued ones are delivered or given up. */
  close(): Promise<void>;
}

/** An event in the queue. Its JSON is made on arrival, so later changes by another listener do not matter. */
export interface QueuedEvent {
  readonly json: string;
  readonly event: FileEvent;
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
   * Returns false if the queue is full and an event was dropped: an earlier one of a refusal, which any client can
   * cause, or this one. @throws the error of `JSON.stringify`.
   */
  add(event: FileEvent): boolean;
  /** Resolves when the queue is empty. */
  drain(): Promise<void>;
}

/**
 * Characters of JSON: clients decide how long names and headers are, so the number of events alone does not bound
 * memory.
 */
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
  const queued: QueuedEvent[] = [];
  let size = 0;
  /** How many of the queued events are refusals. */
  let refusals = 0;
  let running: Run | undefined;
  let isFull = false;

  async function deliverAll(run: Run): Promise<void> {
    while (queued.length > 0) {
      const events = take();
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

  /** Takes the events of the next delivery: at least one, and as many as the limits allow. */
  function take(): readonly QueuedEvent[] {
    let count = 0;
    let characters = 0;
    for (const { json } of queued) {
      if (count === batch || (count > 0 && characters + json.length > MAX_BATCH)) break;
      count += 1;
      characters += json.length;
    }
    size -= characters;
    const taken = queued.splice(0, count);
    for (const { event } of taken) if (isRefusal(event)) refusals -= 1;
    return taken;
  }

  function add(event: FileEvent): boolean {
    const json = toJson(event);
    const isOver = (): boolean => queued.length >= capacity || size >= MAX_HELD;
    const mustDrop = isOver();
    if (mustDrop) {
      if (!isFull) onFull();
      isFull = true;
      while (isOver()) if (isRefusal(event) || !dropRefusal()) return false;
    }
    queued.push({ json, event });
    size += json.length;
    if (isRefusal(event)) refusals += 1;
    if (running !== undefined && Date.now() > running.dueBy) {
      onLost?.(running.count);
      running = undefined;
    }
    running ??= start();
    return !mustDrop;
  }

  /** Makes some room. Returns false if no queued event is a refusal. */
  function dropRefusal(): boolean {
    const index = refusals === 0 ? -1 : queued.findIndex(({ event }) => isRefusal(event));
    const [dropped] = index < 0 ? [] : queued.splice(index, 1);
    if (dropped === undefined) return false;
    size -= dropped.json.length;
    refusals -= 1;
    return true;
  }

  return { add, drain: () => running?.done ?? Promise.resolve() };
}

/** The last event and its JSON: several sinks get the same event, one after the other. */
let last: { readonly event: FileEvent; readonly json: string } | undefined;

function toJson(event: FileEvent): string {
  if (last?.event !== event) last = { event, json: JSON.stringify(event) };
  return last.json;
}
