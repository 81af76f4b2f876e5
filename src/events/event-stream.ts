import type { EventStream, FileEvent, OnEvent } from "../contracts/events/file-event.ts";

/** A stream of events, and the listener that fills it. */
export interface EventQueue {
  readonly stream: EventStream;
  readonly add: OnEvent;
  /** Ends the stream after the events that it holds. */
  end(): void;
}

/**
 * Creates a stream that keeps at most `capacity` events for a slow reader. `onEnd` is called once: when the stream ends
 * or the reader leaves.
 */
export function createEventQueue(capacity: number, onEnd: () => void): EventQueue {
  const held: FileEvent[] = [];
  const waiting: ((result: IteratorResult<FileEvent>) => void)[] = [];
  const dropped = new Map<FileEvent["id"], number>();
  let isOver = false;

  function add(event: FileEvent): void {
    if (isOver) return;
    const next = waiting.shift();
    if (next !== undefined) next({ done: false, value: event });
    else if (held.length < capacity) held.push(event);
    else dropped.set(event.id, (dropped.get(event.id) ?? 0) + 1);
  }

  function end(): void {
    if (isOver) return;
    isOver = true;
    onEnd();
    for (const next of waiting.splice(0)) next({ done: true, value: undefined });
  }

  const stream: EventStream = {
    async next() {
      const value = held.shift();
      if (value !== undefined) return { done: false, value };
      if (isOver) return { done: true, value: undefined };
      return new Promise((resolve) => waiting.push(resolve));
    },
    async return() {
      held.length = 0;
      end();
      return { done: true, value: undefined };
    },
    dropped: () => Object.fromEntries(dropped),
    [Symbol.asyncIterator]: () => stream,
  };

  return { stream, add, end };
}
