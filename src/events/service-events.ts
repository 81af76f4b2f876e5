import type { EventStream, OnEvent } from "../contracts/events/file-event.ts";
import type { EventStreamOptions } from "../contracts/file-service.ts";
import { checkOption } from "../contracts/option-error.ts";
import { createEmitter, type Emit, type EmitterOptions } from "./emitter.ts";
import { createEventQueue, type EventQueue } from "./event-stream.ts";
import { createTransfersUnderWay } from "./transfers-in-progress.ts";

/** What is still under way when a service ends has so long to come to an end, which is told. */
const CLOSE_MS = 5000;

/** The events of one service, and who gets them. */
export interface ServiceEvents {
  readonly emit: Emit;
  /** Whether anybody gets them. */
  hasListeners(): boolean;
  /** When those that are being told have been; `undefined` where there are none. */
  settled(): Promise<unknown> | undefined;
  /** A stream of them from now on. @throws TypeError for a capacity that is none. */
  open(options?: EventStreamOptions): EventStream;
  /** Ends the streams, when the transfers that were told of have ended, or after a while. */
  close(): Promise<void>;
}

/** Makes the events of a service, for the configured listeners at first. */
export function createServiceEvents(
  configured: Iterable<OnEvent>,
  options: Omit<EmitterOptions, "listeners">,
): ServiceEvents {
  const listeners = new Set(configured);
  const queues = new Set<EventQueue>();
  const underWay = createTransfersUnderWay();
  const emitter = createEmitter({ ...options, listeners });
  let isClosed = false;

  function emit(draft: Parameters<Emit>[0]): void {
    underWay.note(draft.id);
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
    await underWay.settled(CLOSE_MS);
    for (const queue of [...queues]) queue.end();
  }

  return { emit, hasListeners: () => listeners.size > 0, settled: emitter.settled, open, close };
}
