import { Worker } from "node:worker_threads";

/** Ends the process where an input has no end: its own thread could not even say which. */
export interface Watchdog {
  begin(input: string): void;
  /** Nothing runs. */
  end(): void;
  close(): Promise<void>;
}

/** The number of characters of an input that are shown. */
const ROOM = 2 * 1024 * 1024;
const [TURN, LENGTH] = [0, 1];
const STALLED_MILLISECONDS = 20_000;

/**
 * Looks at the turn now and then: where it is the same one for too long, the input is printed and the process ended.
 */
const WATCH = `
const { workerData } = require("node:worker_threads");
const { writeSync, writeFileSync } = require("node:fs");
const { state, bytes, file, most } = workerData;
let [turn, since] = [-1, Date.now()];
setInterval(() => {
  const now = Atomics.load(state, ${TURN});
  if (now !== turn || now % 2 === 0) [turn, since] = [now, Date.now()];
  else if (Date.now() - since > most) {
    const input = Buffer.from(bytes.slice(0, Atomics.load(state, ${LENGTH})));
    writeFileSync(file, input);
    writeSync(2, "\\nAn input has no end within " + most + " ms (" + file + "):\\n" + JSON.stringify(input.toString("latin1").slice(0, 4000)) + "\\n");
    process.kill(process.pid, "SIGKILL");
  }
}, 500);
`;

/** `file` gets the input that has no end. */
export function createWatchdog(file: string): Watchdog {
  const state = new Int32Array(new SharedArrayBuffer(8));
  const bytes = new Uint8Array(new SharedArrayBuffer(ROOM));
  const workerData = { state, bytes, file, most: STALLED_MILLISECONDS };
  const worker = new Worker(WATCH, { eval: true, workerData, stdout: false, stderr: false });
  worker.unref();
  const view = Buffer.from(bytes.buffer);
  /** Odd while an input runs. */
  let turn = 0;

  function begin(input: string): void {
    turn += turn % 2 === 0 ? 1 : 2;
    Atomics.store(state, LENGTH, view.write(input, 0, ROOM, "latin1"));
    Atomics.store(state, TURN, turn);
  }

  function end(): void {
    turn += turn % 2;
    Atomics.store(state, TURN, turn);
  }

  return {
    begin,
    end,
    async close() {
      await worker.terminate();
    },
  };
}
