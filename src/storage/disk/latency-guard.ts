/**
 * Decides whether system calls may be synchronous.
 *
 * The system returns what it has in memory within microseconds, a tenth of what a call in another thread costs. But a
 * synchronous call that waits for a device blocks all requests. So calls are synchronous while they are fast, and
 * asynchronous for some time after slow ones (docs/decisions/0012-synchronous-system-calls.md).
 */
export interface LatencyGuard {
  /** Whether the next call may be synchronous. */
  isFast(): boolean;
  /** Makes a synchronous call and measures its duration. */
  timed<T>(call: () => T): T;
}

/**
 * Bounds for one iteration of the event loop: the total duration of its synchronous calls, and the time after its first
 * one.
 */
const CALLS_MS = 10;
const WINDOW_MS = 50;

/** A call of this duration was slow, even if other processes used the processor meanwhile. */
const UNMISTAKABLE_MS = 100;
/** The longest time without synchronous calls. */
const MAX_CAUTION_MS = 60_000;

/** Limits and clock of a guard, in milliseconds. */
export interface LatencyGuardOptions {
  /** A longer call is slow: it waited for a device or a network, or other processes used the processor. */
  readonly slow: number;
  /** One slow call is ignored, unless another one ended within this time before it. */
  readonly near: number;
  /** How long calls stay asynchronous after that. The time doubles, up to a minute, if the disk is slow again soon. */
  readonly caution: number;
  /** Returns the current time, from any origin. */
  readonly now?: () => number;
}

/** Creates the guard of one group of calls. */
export function createLatencyGuard({
  slow,
  near,
  caution,
  now = () => performance.now(),
}: LatencyGuardOptions): LatencyGuard {
  let lastSlow = Number.NEGATIVE_INFINITY;
  let cautiousUntil = Number.NEGATIVE_INFINITY;
  let pause = caution;
  /**
   * The current iteration of the event loop: when its first call started, and the duration of its calls. `undefined`
   * before the first call.
   */
  let iteration: { readonly startedAt: number; taken: number } | undefined;

  /**
   * A caller that reads one file after another would otherwise block the event loop. Each iteration allows a limited
   * time.
   */
  function isFast(): boolean {
    const time = now();
    if (iteration !== undefined && (iteration.taken >= CALLS_MS || time - iteration.startedAt >= WINDOW_MS))
      return false;
    return time >= cautiousUntil;
  }

  function timed<T>(call: () => T): T {
    const startedAt = now();
    try {
      return call();
    } finally {
      const ended = now();
      count(startedAt, ended);
      if (ended - startedAt > slow) noteSlow(startedAt, ended);
    }
  }

  function count(startedAt: number, ended: number): void {
    if (iteration === undefined) {
      iteration = { startedAt: startedAt, taken: 0 };
      setImmediate(() => {
        iteration = undefined;
      });
    }
    iteration.taken += ended - startedAt;
  }

  function noteSlow(startedAt: number, ended: number): void {
    const isAccident = startedAt - lastSlow >= near && ended - startedAt < UNMISTAKABLE_MS;
    if (!isAccident) {
      // The disk is slow again soon after the last pause, so the next pause is longer.
      pause = startedAt - cautiousUntil < 2 * pause ? Math.min(2 * pause, MAX_CAUTION_MS) : caution;
      cautiousUntil = ended + pause;
    }
    lastSlow = ended;
  }

  return { isFast, timed };
}

/** Guard of calls that only read. All disks of the process share it, because the whole process waits. */
export const readGuard: LatencyGuard = createLatencyGuard({ slow: 10, near: 1000, caution: 500 });

/** Guard of calls that change something. They may wait for a journal even if reads are fast. */
export const changeGuard: LatencyGuard = createLatencyGuard({ slow: 10, near: 1000, caution: 2000 });
