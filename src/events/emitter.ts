import type { EventEnvelope } from "../contracts/events/envelope.ts";
import type { FileEvent, OnEvent } from "../contracts/events/file-event.ts";
import type { Logger } from "../contracts/logger.ts";
import { EVENT_MESSAGES } from "./catalog.ts";
import { cutPaths } from "./cut-paths.ts";
import { createRefusalLimiter, isRefusal } from "./refusals.ts";
import { toSafeLogger } from "./safe-logger.ts";

type WithoutStamp<E> = E extends FileEvent ? Omit<E, "timestamp" | "server" | "message"> : never;

/** An event without its time and its server. It has a message only if that differs from the one in the catalogue. */
export type EventDraft = WithoutStamp<FileEvent> & { readonly message?: string };

/** Passes an event to every listener. It never throws and does not wait for the listeners. */
export type Emit = (draft: EventDraft) => void;

/** Passes events to the listeners of a service. */
export interface Emitter {
  readonly emit: Emit;
  /** Resolves once all promises of listeners have settled; `undefined` if none is pending. */
  settled(): Promise<void> | undefined;
}

/** Options of {@link createEmitter}. */
export interface EmitterOptions {
  /** Read for each event, so listeners may come and go. */
  readonly listeners: ReadonlySet<OnEvent>;
  readonly server: EventEnvelope["server"];
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Gets the failures of listeners. */
  readonly logger: Logger;
}

/**
 * A listener is reported once in this time at most: one that fails at each event must not fill the log or slow
 * transfers.
 */
const REPORT_EVERY_MS = 1000;

/**
 * Creates an emitter that adds the time and the server to each event (CONTRACT 8). Of the events that any client can
 * cause it emits 10 a second for a network and 200 in all. The next one that it emits has the number of those left out.
 * Paths of starts and failures are cut.
 */
export function createEmitter({ listeners, server, clock, logger }: EmitterOptions): Emitter {
  const safe = toSafeLogger(logger);
  const refusals = createRefusalLimiter(clock);
  /** Promises that listeners have returned: a sink returns the same one for all events that it is delivering. */
  const seen = new WeakSet<object>();
  let pending = 0;
  let idle: { readonly promise: Promise<void>; readonly resolve: () => void } | undefined;

  /** The time of the last report of each listener, and the number of its failures since. */
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
      "An event listener failed.",
    );
  }

  function notify(listener: OnEvent, event: FileEvent): void {
    try {
      const result = listener(event);
      if (typeof result === "object" && result !== null && "then" in result) watch(listener, event.id, result);
    } catch (error) {
      reportFailure(listener, event.id, error);
    }
  }

  /**
   * Counts pending promises instead of keeping them, so a listener that hangs does not make the work of others grow.
   */
  function watch(listener: OnEvent, id: number, promise: object): void {
    if (seen.has(promise)) return;
    seen.add(promise);
    pending += 1;
    idle ??= createDeferred();
    Promise.resolve(promise)
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
    const others = isRefusal(draft) ? refusals.admit(toAddress(draft)) : 0;
    if (others === undefined) return;
    const cut = cutPaths(id, data);
    const counted = others === 0 ? cut : { ...cut, others };
    const event = { id, message, timestamp, data: counted, ...about, server } as FileEvent;
    for (const listener of listeners) notify(listener, event);
  }

  return { emit, settled: () => idle?.promise };
}

/** The address of the client that caused an event, if known. */
function toAddress({ account, data }: EventDraft): string | undefined {
  return account?.peer?.address ?? ("peer" in data ? data.peer?.address : undefined);
}

function createDeferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
