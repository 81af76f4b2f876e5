/** A call that takes longer has waited for a device, or for the other end of a network; or the processor was with others. */
const SLOW_MS = 10;
/** Two slow calls within this time are no accident. */
const NEAR_MS = 1000;
/** For so long nobody waits for that disk again. */
const CAUTION_MS = 500;

/**
 * How a disk answers. What the system has in memory it tells in microseconds, a tenth of what the detour through another thread costs;
 * but a call that waits for a device holds up everybody. So calls are made at once while they are quick, and elsewhere for a time after
 * two were slow (docs/decisions/0012-calls-at-once.md).
 */
export interface DiskPace {
  isQuick(): boolean;
  /** Makes a call at once, and takes its time. */
  timed<T>(call: () => T): T;
}

/** @param now milliseconds, from any beginning. */
export function createDiskPace(now: () => number = () => performance.now()): DiskPace {
  let lastSlow = Number.NEGATIVE_INFINITY;
  let cautiousUntil = Number.NEGATIVE_INFINITY;

  function timed<T>(call: () => T): T {
    const begun = now();
    try {
      return call();
    } finally {
      const ended = now();
      if (ended - begun > SLOW_MS) noteSlow(begun, ended);
    }
  }

  function noteSlow(begun: number, ended: number): void {
    if (begun - lastSlow < NEAR_MS) cautiousUntil = ended + CAUTION_MS;
    lastSlow = ended;
  }

  return { isQuick: () => now() >= cautiousUntil, timed };
}

/** One for all disks of the process: it is the process that waits. */
export const diskPace: DiskPace = createDiskPace();
