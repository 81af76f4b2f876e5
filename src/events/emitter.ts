import type { EventEnvelope, FileEvent, OnEvent } from "../contracts/events.ts";
import type { Logger } from "../contracts/logger.ts";
import { toSafeLogger } from "./safe-logger.ts";

type WithoutStamp<E> = E extends FileEvent ? Omit<E, "timestamp" | "server"> : never;

/** An event without what is the same for all of a server. */
export type EventDraft = WithoutStamp<FileEvent>;

/** Tells of an event; never throws and waits for nobody. */
export type Emit = (draft: EventDraft) => void;

/** Where events go, and whose they are. */
export interface EmitterOptions {
  /** Absent: nobody is told. */
  readonly onEvent: OnEvent | undefined;
  readonly server: EventEnvelope["server"];
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Gets the failures of `onEvent`. */
  readonly logger: Logger;
}

/** Makes what tells of events, each with its time and server (CONTRACT 8). */
export function createEmitter({ onEvent, server, clock, logger }: EmitterOptions): Emit {
  if (onEvent === undefined) return () => undefined;
  const tell = onEvent;

  const safe = toSafeLogger(logger);

  function reportFailure(id: number, error: unknown): void {
    safe.error({ event: id, error }, "An event could not be told.");
  }

  return (draft) => {
    const now = clock();
    const timestamp = { timestamp: now / 1000, iso_8601: new Date(now).toISOString() };
    try {
      const told = tell({ ...draft, timestamp, server } as FileEvent);
      Promise.resolve(told).catch((error: unknown) => reportFailure(draft.id, error));
    } catch (error) {
      reportFailure(draft.id, error);
    }
  };
}
