import cluster, { type Worker } from "node:cluster";
import { setTimeout as delay } from "node:timers/promises";
import type { ServeOutputs } from "../commands/serve.ts";
import type { ServeSettings } from "../config/serve-settings.ts";
import { toStoreList } from "../config/store-list.ts";
import { type CommandFailure, createFailure } from "../failure.ts";
import { serveMetrics } from "../metrics-server.ts";
import type { ProcessUsages } from "../process-metrics.ts";
import { type ProcessUsage, watchProcess } from "../process-usage.ts";
import { createReadiness } from "../readiness.ts";
import { stopSignal } from "../stop-signal.ts";
import { createFileLocks } from "./file-locks.ts";
import { type PrimaryMessage, WORKER_PORT, type WorkerMessage } from "./messages.ts";

/** A worker that ran at least this long was healthy: its replacement starts without a delay. */
const WELL_MILLISECONDS = 30_000;
const FIRST_PAUSE_MILLISECONDS = 250;
const LONGEST_PAUSE_MILLISECONDS = 30_000;

const LAST_WORDS_MILLISECONDS = 1000;

type Address = { readonly url: string; readonly port: number };

/** The result of a worker's start. */
type Start = { readonly address: Address } | { readonly failure: CommandFailure };

/** Why several processes cannot serve these settings, in words for the user; `undefined` if they can. */
export function findSharingProblem(settings: ServeSettings): string | undefined {
  const { sessionStore, hasOwnStorage, hasOwnLinks, quota, quotaStore, idempotency, answerStore } = settings;
  if (sessionStore === undefined) {
    return "needs sessions that all workers share: set session.store in the configuration to redis://, rediss:// or sqlite://";
  }
  if (hasOwnStorage) return "needs files that all workers share, but a storage in memory belongs to one process";
  if (quota !== undefined && quotaStore === undefined) {
    return "needs quotas that all workers count together: set quota.store in the configuration to redis://, rediss:// or sqlite://";
  }
  const { offload } = settings.service;
  if (offload !== undefined && "report" in offload && offload.report === true) {
    return "needs downloads that any worker can end, but a report is for one process: remove offload.report";
  }
  if (idempotency !== undefined && answerStore === undefined) {
    return "needs responses that all workers share: set idempotency.store in the configuration to redis://, rediss:// or sqlite://";
  }
  return hasOwnLinks
    ? "needs links that all workers share: set links.store in the configuration to redis://, rediss:// or sqlite://"
    : undefined;
}

/**
 * Serves with `count` worker processes on one port until SIGINT or SIGTERM, as `serve` does with one process. This
 * process has what exists only once: the file of events, webhooks, metrics, and the locks on accounts files. It
 * replaces a worker that ends, with longer and longer delays if the replacements end early.
 */
export async function serveByWorkers(settings: ServeSettings, count: number, outputs: ServeOutputs): Promise<void> {
  const { metrics, sinks = [], service, reloads } = settings;
  const { logger = console } = service;
  const living = new Map<Worker, Promise<void>>();
  const listening = new Set<Worker>();
  /** What each worker used when it last reported. */
  const usages = new Map<Worker, ProcessUsage>();
  /** The number of each worker. A replacement has that of the worker that ended. */
  const numbers = new Map<Worker, number>();
  const locks = createFileLocks();
  const stopping = new AbortController();
  let sharedPort = settings.port;
  let address: Address | undefined;
  /** The address of the worker that has listened last. */
  let latest: Address | undefined;
  let confirmStart = (): void => undefined;
  const started = new Promise<void>((resolve) => {
    confirmStart = resolve;
  });
  const stop = stopSignal({ ...outputs, logFormat: settings.logFormat }, () => {
    for (const worker of living.keys()) worker.process.kill("SIGKILL");
  });

  function onMessage(worker: Worker, message: WorkerMessage): void {
    if (message.type === "lock")
      locks.acquire(message.file, worker, () => sendTo(worker, { type: "locked", id: message.id }));
    if (message.type === "unlock") locks.release(message.file, worker);
    // In a message: others may read the arguments and the environment of a process, and it may have secrets.
    if (message.type === "config" && reloads) sendTo(worker, { type: "config", config: reloads.currentConfig() });
    if (message.type === "usage") usages.set(worker, message.usage);
    if (message.type !== "events") return;
    for (const request of message.requests) metrics?.onRequest(request);
    for (const event of message.events) {
      for (const sink of sinks) sink(event);
      metrics?.onEvent(event);
    }
  }

  /** Starts a worker, and a replacement when it ends. */
  function launch(pause: number): Promise<Start> {
    // If no worker listens, the shared port is free: the next worker asks for it by number.
    if (listening.size === 0 && address !== undefined) sharedPort = address.port;
    const worker = cluster.fork({ [WORKER_PORT]: String(sharedPort) });
    const startedAt = performance.now();
    numbers.set(worker, toFreeNumber(numbers.values()));
    // If the process cannot be created, there is an error event but no exit event.
    const exited = new Promise<void>((resolve) => worker.once("exit", () => resolve()).on("error", () => resolve()));
    living.set(worker, untilReported(worker, exited));
    const start = new Promise<Start>((resolve) => {
      worker.on("message", (message: WorkerMessage) => {
        if (message.type === "failed") resolve(message);
        if (message.type === "listening") {
          if (address !== undefined && message.port !== address.port) {
            // The last worker on the shared port has just ended, so the system gave this one another free port.
            sharedPort = address.port;
            worker.process.kill("SIGKILL");
            return;
          }
          listening.add(worker);
          latest = message;
          resolve({ address: message });
        }
        onMessage(worker, message);
      });
      exited.then(() => resolve({ failure: { exitStatus: 1, problems: ["error: a worker ended while it started"] } }));
    });
    living.get(worker)?.then(() => living.delete(worker));
    exited.then(async () => {
      const wasListening = listening.delete(worker);
      locks.forget(worker);
      usages.delete(worker);
      numbers.delete(worker);
      // A worker that ends during the start is replaced after it. If the start fails, none is.
      await started;
      if (stopping.signal.aborted) return;
      const { exitCode, signalCode, pid } = worker.process;
      const isWell = performance.now() - startedAt >= WELL_MILLISECONDS || (wasListening && exitCode === 0);
      logger.warn({ pid, exitCode, signal: signalCode }, "A worker ended and is replaced.");
      const nextPause = isWell ? FIRST_PAUSE_MILLISECONDS : Math.min(pause * 2, LONGEST_PAUSE_MILLISECONDS);
      await delay(isWell ? 0 : pause, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (!stopping.signal.aborted) report(await launch(nextPause));
    });
    return start;
  }

  function report(start: Start): void {
    if ("failure" in start) logger.error({ problems: start.failure.problems }, "A worker could not start.");
  }

  /** Starts the first worker alone, so that problems of the settings are reported only once. */
  async function launchAll(): Promise<Address | undefined> {
    const [first] = [await launch(FIRST_PAUSE_MILLISECONDS)];
    const others =
      "failure" in first || stopping.signal.aborted
        ? []
        : Array.from({ length: count - 1 }, () => launch(FIRST_PAUSE_MILLISECONDS));
    for (const start of [first, ...(await Promise.all(others))]) {
      if ("failure" in start) throw createFailure(start.failure.exitStatus, start.failure.problems);
    }
    return latest;
  }

  async function end(): Promise<void> {
    stopping.abort();
    for (const worker of living.keys()) {
      if (listening.has(worker)) sendTo(worker, { type: "stop" });
      else worker.process.kill("SIGKILL");
    }
    await Promise.all(living.values());
  }

  let reloading: Promise<unknown> = Promise.resolve();

  async function reload(): Promise<void> {
    outputs.reopenLog?.();
    // For later workers. Those that serve read the accounts themselves, and log what is wrong, too.
    reloading = reloading.then(reloads?.readAccounts).catch(() => undefined);
    await reloading;
    for (const worker of living.keys()) sendTo(worker, { type: "reload" });
  }

  process.on("SIGHUP", () => void reload());
  const readiness = createReadiness({
    probeStorage: settings.probeStorage,
    stores: toStoreList(settings),
    findServingProblem: () => (listening.size === 0 ? "No worker serves: see the log." : undefined),
  });
  const watch = metrics && watchProcess();
  async function lookAtProcesses(): Promise<ProcessUsages> {
    const own = await watch?.look();
    const theirs = [...usages].map(([worker, usage]) => [`worker-${numbers.get(worker)}`, usage] as const);
    return new Map([...(own === undefined ? [] : [["primary", own] as const]), ...theirs]);
  }
  const endMetrics = await serveMetrics(metrics, logger, { ...readiness, lookAtProcesses });
  try {
    address = await Promise.race([launchAll(), stop.then(() => undefined)]);
    if (address !== undefined) {
      confirmStart();
      readiness.enter("listening");
      outputs.onListening?.();
      outputs.stdout.write(`Listening on ${address.url}\n`);
    }
    await stop;
    readiness.enter("stopping");
  } finally {
    await end();
    await endMetrics();
    watch?.stop();
    await Promise.all(sinks.map((sink) => sink.close()));
  }
}

/** The first number from 1 on that is not taken. */
function toFreeNumber(taken: Iterable<number>): number {
  const numbers = new Set(taken);
  let free = 1;
  while (numbers.has(free)) free += 1;
  return free;
}

function sendTo(worker: Worker, message: PrimaryMessage): void {
  if (worker.isConnected()) worker.send(message, () => undefined);
}

/**
 * Resolves when a worker has ended and its last messages have arrived. The channel closes right after the exit, unless
 * the worker was killed while a connection was on its way to it; then this waits a second.
 */
async function untilReported(worker: Worker, exited: Promise<void>): Promise<void> {
  const disconnected = new Promise<void>((resolve) => worker.once("disconnect", () => resolve()));
  await exited;
  const patience = new AbortController();
  const late = delay(LAST_WORDS_MILLISECONDS, undefined, { signal: patience.signal }).catch(() => undefined);
  await Promise.race([disconnected, late]);
  patience.abort();
}
