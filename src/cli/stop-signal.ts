import type { LogFormat } from "./log/format.ts";
import { createJsonLogger } from "./log/json.ts";
import type { Output } from "./log/terminal.ts";

type Signal = "SIGINT" | "SIGTERM";

const exitStatuses: Readonly<Record<Signal, number>> = { SIGINT: 130, SIGTERM: 143 };

/**
 * npm repeats a signal that the terminal has already sent to the whole process group: two within this time count as
 * one.
 */
const echoMilliseconds = 200;

/** A stop that takes longer waits for requests. */
const waitMilliseconds = 1000;

/**
 * Resolves at the first SIGINT or SIGTERM. The next one calls `onForce` and ends the process. The log says that the
 * process stops, that it waits if that takes longer, and that it has stopped.
 */
export function stopSignal(
  log: { readonly stderr: Output; readonly quiet: boolean; readonly logFormat?: LogFormat | undefined },
  onForce: () => void = () => undefined,
): Promise<void> {
  return new Promise((resolve) => {
    let stoppedAt: number | undefined;

    function onSignal(signal: Signal): void {
      if (stoppedAt === undefined) {
        stoppedAt = performance.now();
        logStop(log, "Stopping.");
        setTimeout(() => logStop(log, "Waiting for requests in progress."), waitMilliseconds).unref();
        process.once("exit", () => logStop(log, "Stopped."));
        resolve();
      } else if (performance.now() - stoppedAt > echoMilliseconds) {
        onForce();
        end(signal);
      }
    }

    process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
  });
}

/**
 * Ends the process by the signal itself: `process.exit` would wait for a call to a file system that hangs. The first
 * process of a system or container ignores its own signals, so `process.exit` follows.
 */
function end(signal: Signal): never {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  process.exit(exitStatuses[signal]);
}

function logStop({ stderr, quiet, logFormat }: Parameters<typeof stopSignal>[0], message: string): void {
  if (logFormat === "json") createJsonLogger(stderr, { quiet }).info({}, message);
  else if (!quiet) stderr.write(`${message}\n`);
}
