import type { EventStream, OnEvent } from "../contracts/events/file-event.ts";
import type { EventStreamOptions } from "../contracts/file-service.ts";
import { checkOption } from "../contracts/option-error.ts";
import { createEmitter, type Emit, type EmitterOptions } from "./emitter.ts";
import { createEventQueue, type EventQueue } from "./event-stream.ts";
import { createTransfersInProgress, type TransfersInProgress } from "./transfers-in-progress.ts";

/** How long a closing service waits for the end events of transfers in progress. */
const CLOSE_MS = 5000;

/** The events of one service, and their listeners. */
export interface ServiceEvents {
  readonly emit: Emit;
  /** Whether there is a listener. Skip work that only serves events if not. */
  hasListeners(): boolean;
  /** Resolves once all promises of listeners have settled; `undefined` if none is pending. */
  settled(): Promise<void> | undefined;
  /** Opens a stream of the events from now on. @throws OptionError for a wrong capacity. */
  open(options?: EventStreamOptions): EventStream;
  /** See {@link TransfersInProgress}. */
  readonly countRequest: TransfersInProgress["add"];
  /** Ends the streams once all requests and transfers in progress have ended, or after 5 seconds. */
  close(): Promise<void>;
}

/** Creates the events of a service. `configured` are the first listeners; each stream adds one. */
export function createServiceEvents(
  configured: Iterable<OnEvent>,
  options: Omit<EmitterOptions, "listeners">,
): ServiceEvents {
  const listeners = new Set(configured);
  const queues = new Set<EventQueue>();
  const inProgress = createTransfersInProgress();
  const emitter = createEmitter({ ...options, listeners });
  let isClosed = false;

  function emit(draft: Parameters<Emit>[0]): void {
    inProgress.note(draft.id);
    emitter.emit(draft);
  }

  function open({ capacity = 1000 }: EventStreamOptions = {}): EventStream {
    checkOption(Number.isSafeInteger(capacity) && capacity >= 1, "capacity", "a whole number, 1 or more");
    const queue = createEventQueue(capacity, leave);
    function leave(): void {
      listeners.delete(queue.add);
      queues.delete(queue);
    }
    listeners.add(queue.add);
    queues.add(queue);
    if (isClosed) queue.end();
    return queue.stream;
  }

  async function close(): Promise<void> {
    isClosed = true;
    await inProgress.settled(CLOSE_MS);
    for (const queue of [...queues]) queue.end();
  }

  const { add: countRequest } = inProgress;
  return { emit, hasListeners: () => listeners.size > 0, settled: emitter.settled, open, countRequest, close };
}
