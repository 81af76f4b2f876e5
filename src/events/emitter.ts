import type { EventEnvelope } from "../contracts/events/envelope.ts";
import type { FileEvent, OnEvent } from "../contracts/events/file-event.ts";
import type { Logger } from "../contracts/logger.ts";
import { EVENT_MESSAGES } from "./catalog.ts";
import { toSafeLogger } from "./safe-logger.ts";

type WithoutStamp<E> = E extends FileEvent ? Omit<E, "timestamp" | "server" | "message"> : never;

/** An event without what is the same for all of its kind, or of a server; its message only where it is not the usual one. */
export type EventDraft = WithoutStamp<FileEvent> & { readonly message?: string };

/** Tells of an event; never throws and waits for nobody. */
export type Emit = (draft: EventDraft) => void;

/** What tells of events. */
export interface Emitter {
  readonly emit: Emit;
  /** Resolves when nothing is being told any more, once; `undefined` where nothing is. */
  settled(): Promise<void> | undefined;
}

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

/** A listener that fails at each event fills no log, and costs no transfer the writing of it: it is reported so often at most. */
const REPORT_EVERY_MS = 1000;

/** Makes what tells of events, each with its time and server (CONTRACT 8). */
export function createEmitter({ listeners, server, clock, logger }: EmitterOptions): Emitter {
  const safe = toSafeLogger(logger);
  /** What listeners have returned: a sink returns one promise for all that it has under way. */
  const seen = new WeakSet<object>();
  let pending = 0;
  let idle: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;

  /** When each was reported last, and how often it has failed since. */
  const reports = new WeakMap<OnEvent, { readonly at: number; others: number }>();

  function reportFailure(listener: OnEvent, id: number, error: unknown): void {
    const now = clock();
    const last = reports.get(listener);
    if (last !== undefined && Math.abs(now - last.at) < REPORT_EVERY_MS) {
      last.others += 1;
      return;
    }
    reports.set(listener, { at: now, others: 0 });
    safe.error(
      { event: id, error, ...(last && last.others > 0 && { others: last.others }) },
      "An event could not be told.",
    );
  }

  function tell(listener: OnEvent, event: FileEvent): void {
    try {
      const told = listener(event);
      if (typeof told === "object" && told !== null && "then" in told) watch(listener, event.id, told);
    } catch (error) {
      reportFailure(listener, event.id, error);
    }
  }

  /** Counted, not kept: a listener that hangs makes nobody else's work grow. */
  function watch(listener: OnEvent, id: number, told: object): void {
    if (seen.has(told)) return;
    seen.add(told);
    pending += 1;
    idle ??= createDeferred();
    Promise.resolve(told)
      .catch((error: unknown) => reportFailure(listener, id, error))
      .finally(() => {
        pending -= 1;
        if (pending > 0) return;
        idle?.resolve();
        idle = undefined;
      });
  }

  function emit(draft: EventDraft): void {
    if (listeners.size === 0) return;
    const now = clock();
    const timestamp = { timestamp: now / 1000, iso_8601: new Date(now).toISOString() };
    const { id, message = EVENT_MESSAGES[id], data, ...about } = draft;
    const event = { id, message, timestamp, data, ...about, server } as FileEvent;
    for (const listener of listeners) tell(listener, event);
  }

  return { emit, settled: () => idle?.promise };
}

function createDeferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
