import { openSync, readSync } from "node:fs";

/**
 * What a thread did so far, in milliseconds. The rest of its time it slept, because it waited for something else, such
 * as a device.
 */
export interface ThreadTimes {
  /** It ran. */
  readonly ran: number;
  /** It waited for a processor, because others used it. */
  readonly waited: number;
}

/** Linux counts here, in nanoseconds, how long this thread has run, and how long it was ready to run and waited. */
const STATISTICS = "/proc/thread-self/schedstat";
const SPACE = 0x20;
const ZERO = 0x30;
const NANOSECONDS_PER_MILLISECOND = 1e6;

const buffer = new Uint8Array(64);
/** The descriptor of the statistics; `undefined` before they are read, -1 if the system has none. */
let statistics: number | undefined;
let latest: ThreadTimes = { ran: 0, waited: 0 };

/**
 * Returns the times of this thread so far. They are always 0 if the system does not report them. Linux updates `ran`
 * when the thread goes to sleep, and otherwise a few hundred times a second. A call takes a microsecond or two.
 */
export function readThreadTimes(): ThreadTimes {
  statistics ??= openStatistics();
  if (statistics < 0) return latest;
  const length = readStatistics(statistics);
  const ran = readNumber(0, length);
  const waited = readNumber(buffer.indexOf(SPACE) + 1, length);
  latest = { ran: Math.max(latest.ran, ran), waited: Math.max(latest.waited, waited) };
  return latest;
}

/** Reads the nanoseconds at a place of the buffer, as milliseconds. */
function readNumber(begin: number, end: number): number {
  let nanoseconds = 0;
  for (let at = begin; at < end && buffer[at] !== SPACE; at++) {
    nanoseconds = 10 * nanoseconds + (buffer[at] as number) - ZERO;
  }
  return nanoseconds / NANOSECONDS_PER_MILLISECOND;
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
