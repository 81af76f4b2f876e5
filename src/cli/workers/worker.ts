import type { FileEvent } from "../../contracts/events/file-event.ts";
import type { Logger } from "../../contracts/logger.ts";
import type { MeasuredRequest } from "../../metrics/measure-service.ts";
import { createEventBuffer, type HeldEvent } from "../../sinks/event-buffer.ts";
import type { ServeOrders } from "../commands/serve.ts";
import { failureOf } from "../failure.ts";
import { createReloadOrder } from "../reload.ts";
import { type PrimaryMessage, WORKER_PORT, type WorkerMessage } from "./messages.ts";

/** The channel of a worker to the primary process, which has what exists only once. */
export interface WorkerChannel {
  /** Returns the configuration that the primary process has checked. Its file may have changed meanwhile. */
  readConfig(): Promise<unknown>;
  /** Passes an event on to the primary process, which has the sinks. */
  onEvent(event: FileEvent): void;
  /** Passes a request on to the primary process, which counts it. */
  onRequest(request: MeasuredRequest): void;
  /** Runs work on a file while no other worker works on it. */
  withFileLock<T>(file: string, work: () => Promise<T>): Promise<T>;
}

/** One of several processes that serve together. */
export interface Worker extends WorkerChannel, ServeOrders {
  /** The port to listen on. */
  readonly port: number;
  /** Runs the work, then ends the process. A failed start is sent to the primary process, not thrown. */
  run(work: () => Promise<void>): Promise<void>;
}

/** The number of events, and of requests, that wait for the primary process at most; more are dropped. */
const MAX_WAITING = 10_000;
/** Characters of JSON: clients decide how long names and headers in events are. */
const MAX_CHARACTERS = 16_777_216;

/** This process as a worker; `undefined` if it is not one. `logger` gets a warning if events are dropped. */
export function connectToPrimary(logger: Pick<Logger, "warn">): Worker | undefined {
  const port = process.env[WORKER_PORT];
  if (port === undefined || process.send === undefined) return undefined;
  const granted = new Map<number, () => void>();
  let requests = 0;
  let onConfig = (_config: unknown): void => undefined;
  const order = createReloadOrder();

  const stop = new Promise<void>((resolve) => {
    process.on("message", (message: PrimaryMessage) => {
      if (message.type === "stop") resolve();
      if (message.type === "reload") order.give();
      if (message.type === "config") onConfig(message.config);
      if (message.type === "locked") granted.get(message.id)?.();
    });
    // A terminal sends SIGINT to the whole process group: the primary process decides. SIGTERM replaces one worker.
    process.on("SIGINT", () => undefined).on("SIGHUP", () => undefined);
    process.on("SIGTERM", () => resolve());
  });

  async function readConfig(): Promise<unknown> {
    const received = new Promise<unknown>((resolve) => {
      onConfig = resolve;
    });
    await send({ type: "config" });
    return received;
  }

  async function withFileLock<T>(file: string, work: () => Promise<T>): Promise<T> {
    requests += 1;
    const id = requests;
    const isGranted = new Promise<void>((resolve) => granted.set(id, resolve));
    await send({ type: "lock", file, id });
    await isGranted;
    granted.delete(id);
    try {
      return await work();
    } finally {
      await send({ type: "unlock", file, id });
    }
  }

  const events = createEventPassage(logger, send);

  async function run(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const failure = failureOf(error);
      if (failure === undefined) throw error;
      await send({ type: "failed", failure });
    }
    await events.drain();
    process.disconnect();
  }

  return {
    port: Number(port),
    stop,
    onReload: order.onReload,
    onListening: (address) => void send({ type: "listening", ...address }),
    onUsage: (usage) => void send({ type: "usage", usage }),
    onEvent: events.onEvent,
    onRequest: events.onRequest,
    readConfig,
    withFileLock,
    run,
  };
}

/** Sends waiting events and requests, one batch at a time. */
export function createEventPassage(
  logger: Pick<Logger, "warn">,
  send: (message: WorkerMessage) => Promise<void>,
): Pick<WorkerChannel, "onEvent" | "onRequest"> & { drain(): Promise<void> } {
  const waiting = createEventBuffer<HeldEvent>({ capacity: MAX_WAITING, maxSize: MAX_CHARACTERS });
  let measured: MeasuredRequest[] = [];
  let passing: Promise<void> | undefined;
  let isFull = false;

  async function pass(): Promise<void> {
    // A microtask later: the request that emits the first event does not wait for the sending.
    await Promise.resolve();
    while (!waiting.isEmpty() || measured.length > 0) {
      const events = waiting.take(MAX_WAITING, MAX_CHARACTERS).map(({ event }) => event);
      const requests = measured;
      measured = [];
      isFull = false;
      await send({ type: "events", events, requests });
    }
    passing = undefined;
  }

  function onEvent(event: FileEvent): void {
    if (waiting.add({ event, size: JSON.stringify(event).length }) > 0) {
      if (!isFull) logger.warn({ capacity: MAX_WAITING }, "Events are dropped because too many earlier events wait.");
      isFull = true;
    }
    passing ??= pass();
  }

  function onRequest(request: MeasuredRequest): void {
    if (measured.length >= MAX_WAITING) return;
    measured.push(request);
    passing ??= pass();
  }

  return { onEvent, onRequest, drain: async () => passing };
}

/** Resolves when the message is sent, or if the primary process no longer exists: this process is ending then. */
function send(message: WorkerMessage): Promise<void> {
  return new Promise((resolve) => {
    if (process.send === undefined || !process.connected) resolve();
    else process.send(message, () => resolve());
  });
}
