import type { EventEnvelope, FileEvent, OnEvent } from "../contracts/events.ts";
import type { Logger } from "../contracts/logger.ts";
import { EVENT_MESSAGES } from "./catalog.ts";
import { toSafeLogger } from "./safe-logger.ts";

type WithoutStamp<E> = E extends FileEvent ? Omit<E, "timestamp" | "server" | "message"> : never;

/** An event without what is the same for all of its kind, or of a server; its message only where it is not the usual one. */
export type EventDraft = WithoutStamp<FileEvent> & { readonly message?: string };

/** Tells of an event; never throws and waits for nobody. */
export type Emit = (draft: EventDraft) => void;

/** Where events go, and whose they are. */
export interface EmitterOptions {
  /** Looked at anew for each event. */
  readonly listeners: ReadonlySet<OnEvent>;
  readonly server: EventEnvelope["server"];
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Gets the failures of listeners. */
  readonly logger: Logger;
}

/** Makes what tells of events, each with its time and server (CONTRACT 8). */
export function createEmitter({ listeners, server, clock, logger }: EmitterOptions): Emit {
  const safe = toSafeLogger(logger);

  function reportFailure(id: number, error: unknown): void {
    safe.error({ event: id, error }, "An event could not be told.");
  }

  function tell(listener: OnEvent, event: FileEvent): void {
    try {
      const told = listener(event);
      if (told !== undefined) Promise.resolve(told).catch((error: unknown) => reportFailure(event.id, error));
    } catch (error) {
      reportFailure(event.id, error);
    }
  }

  return (draft) => {
    if (listeners.size === 0) return;
    const now = clock();
    const timestamp = { timestamp: now / 1000, iso_8601: new Date(now).toISOString() };
    const event = { message: EVENT_MESSAGES[draft.id], ...draft, timestamp, server } as FileEvent;
    for (const listener of listeners) tell(listener, event);
  };
}
