import { openSync, readSync } from "node:fs";

/** Linux counts here, in nanoseconds, how long this thread has run, and how long it was ready to run and waited. */
const STATISTICS = "/proc/thread-self/schedstat";
const SPACE = 0x20;
const ZERO = 0x30;
const NANOSECONDS_PER_MILLISECOND = 1e6;

const buffer = new Uint8Array(64);
/** The descriptor of the statistics; `undefined` before they are read, -1 if the system has none. */
let statistics: number | undefined;
let latest = 0;

/**
 * Returns for how long this thread has been awake so far, in milliseconds: it ran, or waited for a processor because
 * others used it. The rest of its time it slept, because it waited for something else, such as a device. It is always 0
 * if the system does not report it. A call takes a microsecond or two.
 */
export function readAwakeTime(): number {
  statistics ??= openStatistics();
  if (statistics < 0) return latest;
  const length = readStatistics(statistics);
  let [nanoseconds, number, numbers] = [0, 0, 0];
  for (let at = 0; at < length && numbers < 2; at++) {
    if (buffer[at] === SPACE) [nanoseconds, number, numbers] = [nanoseconds + number, 0, numbers + 1];
    else number = 10 * number + (buffer[at] as number) - ZERO;
  }
  latest = Math.max(latest, nanoseconds / NANOSECONDS_PER_MILLISECOND);
  return latest;
}

/** If the system refuses it, no file has to suffer. */
function readStatistics(descriptor: number): number {
  try {
    return readSync(descriptor, buffer, 0, buffer.byteLength, 0);
  } catch {
    return 0;
  }
}

function openStatistics(): number {
  try {
    return openSync(STATISTICS, "r");
  } catch {
    return -1;
  }
}
