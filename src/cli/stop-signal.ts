import type { LogFormat } from "./log/access-log.ts";
import { createJsonLogger } from "./log/json.ts";
import type { Output } from "./log/terminal.ts";

type Signal = "SIGINT" | "SIGTERM";

const exitStatuses: Readonly<Record<Signal, number>> = { SIGINT: 130, SIGTERM: 143 };

/** npm passes on a signal that the terminal has sent to the whole group already: two within so many milliseconds are one. */
const echoMilliseconds = 200;

/** Resolves at the first SIGINT or SIGTERM; from then on the next one ends the process, behind `onForce`. */
export function stopSignal(
  log: { readonly stderr: Output; readonly quiet: boolean; readonly logFormat?: LogFormat | undefined },
  onForce: () => void = () => undefined,
): Promise<void> {
  return new Promise((resolve) => {
    let stoppedAt: number | undefined;

    function onSignal(signal: Signal): void {
      if (stoppedAt === undefined) {
        stoppedAt = performance.now();
        logStop(log);
        resolve();
      } else if (performance.now() - stoppedAt > echoMilliseconds) {
        onForce();
        end(signal);
      }
    }

    process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
  });
}

/** By the signal itself: an orderly exit would wait for a call to a file system that hangs. What the system starts first no signal of its own ends. */
function end(signal: Signal): never {
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
  process.exit(exitStatuses[signal]);
}

function logStop({ stderr, quiet, logFormat }: Parameters<typeof stopSignal>[0]): void {
  const message = "Stopping: waiting for requests in progress.";
  if (logFormat === "json") createJsonLogger(stderr, { quiet }).info({}, message);
  else if (!quiet) stderr.write(`${message}\n`);
}
