import type { FileEvent } from "../contracts/events/file-event.ts";

/** Takes events for somewhere else: to be given to a service as `onEvent`. It never throws and never keeps anybody waiting. */
export interface EventSink {
  (event: FileEvent): void;
  /** How many events found no room, or could not be delivered. */
  dropped(): number;
  /** Takes no more, and resolves when what it holds was delivered, or given up. */
  close(): Promise<void>;
}

/** An event on its way out, as it was when it came: what a listener does to it later is its own. */
export interface QueuedEvent {
  readonly json: string;
  readonly event: FileEvent;
}

/**
 * What a sink does with the events that have gathered; it resolves when they are done with, whatever came of them. It says for how many milliseconds nothing
 * may be heard of it from now on, where it can.
 */
export type Deliver = (events: readonly QueuedEvent[], expect: (milliseconds: number) => void) => Promise<void>;

/** How a sink gathers. */
export interface SinkQueueOptions {
  /** So many events wait at most. */
  readonly capacity: number;
  /** So many are delivered at a time. */
  readonly batch: number;
  readonly deliver: Deliver;
  /** Told at the first event without room, and again only after there was some. */
  readonly onFull: () => void;
  /** Told of so many events whose delivery was never heard of again: edge runtimes end work that has outlived its request for long. */
  readonly onLost?: (count: number) => void;
}

/** Events on their way out of a sink, one delivery at a time. */
export interface SinkQueue {
  /** False where there is no room. @throws what makes JSON of an event throws. */
  add(event: FileEvent): boolean;
  /** Resolves when nothing is left. */
  drain(): Promise<void>;
}

/** Names and headers are as long as clients make them: events are counted by their characters, too. */
const MAX_HELD = 16_777_216;
const MAX_BATCH = 262_144;

const GRACE_MS = 5000;

/** A delivery of all that gathers. */
interface Run {
  readonly done: Promise<void>;
  /** When it is given up, in POSIX milliseconds. */
  dueBy: number;
  /** So many events are on their way. */
  count: number;
}

/** Makes the queue of a sink. */
export function createSinkQueue({ capacity, batch, deliver, onFull, onLost }: SinkQueueOptions): SinkQueue {
  const queued: QueuedEvent[] = [];
  let size = 0;
  let running: Run | undefined;
  let isFull = false;

  /** Not in the time of whoever tells of the first one. */
  async function deliverAll(run: Run): Promise<void> {
    while (queued.length > 0) {
      const events = take();
      run.count = events.length;
      await deliver(events, (milliseconds) => {
        run.dueBy = Date.now() + milliseconds + GRACE_MS;
      });
      // Another one has taken its place.
      if (running !== run) return;
      isFull = false;
    }
    running = undefined;
  }

  function start(): Run {
    const state = { dueBy: Number.POSITIVE_INFINITY, count: 0 };
    const run: Run = Object.assign(state, { done: Promise.resolve().then(() => deliverAll(run)) });
    return run;
  }

  /** The next ones, as many as go together: one at least. */
  function take(): readonly QueuedEvent[] {
    let count = 0;
    let characters = 0;
    for (const { json } of queued) {
      if (count === batch || (count > 0 && characters + json.length > MAX_BATCH)) break;
      count += 1;
      characters += json.length;
    }
    size -= characters;
    return queued.splice(0, count);
  }

  function add(event: FileEvent): boolean {
    if (queued.length >= capacity || size >= MAX_HELD) {
      if (!isFull) onFull();
      isFull = true;
      return false;
    }
    const json = toJson(event);
    queued.push({ json, event });
    size += json.length;
    if (running !== undefined && Date.now() > running.dueBy) {
      onLost?.(running.count);
      running = undefined;
    }
    running ??= start();
    return true;
  }

  return { add, drain: () => running?.done ?? Promise.resolve() };
}

/** Several sinks get the same event, one after the other. */
let last: { readonly event: FileEvent; readonly json: string } | undefined;

function toJson(event: FileEvent): string {
  if (last?.event !== event) last = { event, json: JSON.stringify(event) };
  return last.json;
}
