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
 * Returns for how long this thread has waited for a processor so far, in milliseconds, because others used it. It is
 * always 0 if the system does not report it. A call takes a microsecond or two.
 */
export function readRunDelay(): number {
  statistics ??= openStatistics();
  if (statistics < 0) return latest;
  const length = readStatistics(statistics);
  let nanoseconds = 0;
  for (let at = buffer.indexOf(SPACE) + 1; at < length && buffer[at] !== SPACE; at++) {
    nanoseconds = 10 * nanoseconds + (buffer[at] as number) - ZERO;
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
