import type { FileEvent } from "../../contracts/events/file-event.ts";
import type { Logger } from "../../contracts/logger.ts";
import type { MeasuredRequest } from "../../metrics/measure-service.ts";
import type { ServeOrders } from "../commands/serve.ts";
import { toFailure } from "../failure.ts";
import { type PrimaryMessage, WORKER_PORT, type WorkerMessage } from "./messages.ts";

/** What ties a worker to the others: of some things there is one for all. */
export interface WorkerChannel {
  /** Passes an event on to the process that has the sinks. */
  tell(event: FileEvent): void;
  /** The same for a request, to be counted. */
  onAnswer(responded: MeasuredRequest): void;
  /** Runs work on a file while no other worker does. */
  withFileLock<T>(file: string, work: () => Promise<T>): Promise<T>;
}

/** One of several processes that serve together. */
export interface Worker extends WorkerChannel, ServeOrders {
  /** The port to listen on. */
  readonly port: number;
  /** Runs the worker's work to its end, and the process with it. A failed start is told, not thrown. */
  run(work: () => Promise<void>): Promise<void>;
}

/** So many events, and answers, wait for the other process at most; more are dropped. */
const MAX_WAITING = 10_000;

/** This process as a worker; `undefined` where it is none. `logger` is told of events that are dropped. */
export function connectToPrimary(logger: Pick<Logger, "warn">): Worker | undefined {
  const port = process.env[WORKER_PORT];
  if (port === undefined || process.send === undefined) return undefined;
  const granted = new Map<number, () => void>();
  let requests = 0;

  const stop = new Promise<void>((resolve) => {
    process.on("message", (message: PrimaryMessage) => {
      if (message.type === "stop") resolve();
      if (message.type === "locked") granted.get(message.id)?.();
    });
    // A terminal sends SIGINT to the whole group; the primary decides. SIGTERM to a worker alone makes room for another.
    process.on("SIGINT", () => undefined).on("SIGTERM", () => resolve());
  });

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

  const events = createEventPassage(logger);

  async function run(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const failure = toFailure(error);
      if (failure === undefined) throw error;
      await send({ type: "failed", failure });
    }
    await events.drain();
    process.disconnect();
  }

  return {
    port: Number(port),
    stop,
    onListening: (address) => void send({ type: "listening", ...address }),
    tell: events.tell,
    onAnswer: events.onAnswer,
    withFileLock,
    run,
  };
}

/** Sends what has gathered, one batch at a time. */
function createEventPassage(logger: Pick<Logger, "warn">) {
  let waiting: FileEvent[] = [];
  let responded: MeasuredRequest[] = [];
  let passing: Promise<void> | undefined;
  let isFull = false;

  async function pass(): Promise<void> {
    // Not in the time of whoever tells of the first one.
    await Promise.resolve();
    while (waiting.length + responded.length > 0) {
      const [events, answers] = [waiting, responded];
      waiting = [];
      responded = [];
      isFull = false;
      await send({ type: "told", events, answers });
    }
    passing = undefined;
  }

  function tell(event: FileEvent): void {
    if (waiting.length >= MAX_WAITING) {
      if (!isFull) logger.warn({ capacity: MAX_WAITING }, "Events are dropped because too many earlier events wait.");
      isFull = true;
      return;
    }
    waiting.push(event);
    passing ??= pass();
  }

  function onAnswer(one: MeasuredRequest): void {
    if (responded.length >= MAX_WAITING) return;
    responded.push(one);
    passing ??= pass();
  }

  return { tell, onAnswer, drain: async () => passing };
}

/** Resolves when it is on its way. Where the other process has gone, this one is ending. */
function send(message: WorkerMessage): Promise<void> {
  return new Promise((resolve) => {
    if (process.send === undefined || !process.connected) resolve();
    else process.send(message, () => resolve());
  });
}
