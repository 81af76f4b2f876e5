import { readThreadTimes, type ThreadTimes } from "./thread-times.ts";

/**
 * Decides whether system calls may be synchronous.
 *
 * The system returns what it has in memory within microseconds, a tenth of what a call in another thread costs. But a
 * synchronous call that waits for a device blocks all requests. So calls are synchronous while they are fast, and
 * asynchronous for some time after slow ones (docs/decisions/0012-synchronous-system-calls.md). A call is slow only if
 * the thread slept, where the system reports that: on a busy machine a call can take long without a device.
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

/** A call of this duration was slow, even if the system does not report whether the thread slept. */
const UNMISTAKABLE_MS = 100;
/** The system counts the time in which a thread runs in steps, so some of it may be from before a call. */
const TICK_MS = 4;
/** The longest time without synchronous calls. */
const MAX_CAUTION_MS = 60_000;

/** Limits and clock of a guard, in milliseconds. */
export interface LatencyGuardOptions {
  /** A longer call is slow: it waited for a device or a network. */
  readonly slow: number;
  /** One slow call is ignored, unless another one ended within this time before it. */
  readonly near: number;
  /** How long calls stay asynchronous after that. The time doubles, up to a minute, if the disk is slow again soon. */
  readonly caution: number;
  /** Returns the current time, from any origin. */
  readonly now?: () => number;
  /** Returns the times of this thread so far. */
  readonly threadTimes?: () => ThreadTimes;
}

/** An iteration of the event loop with synchronous calls. */
interface Iteration {
  /** When its first call started. Later, if other processes used the processor during its calls. */
  startedAt: number;
  /** The duration of its calls, without the time in which other processes used the processor. */
  taken: number;
  /** The times at its start, or at the end of its last long call. */
  measured: ThreadTimes & { readonly at: number };
}

/** Creates the guard of one group of calls. */
export function createLatencyGuard({
  slow,
  near,
  caution,
  now = () => performance.now(),
  threadTimes = readThreadTimes,
}: LatencyGuardOptions): LatencyGuard {
  let lastSlow = Number.NEGATIVE_INFINITY;
  let cautiousUntil = Number.NEGATIVE_INFINITY;
  let pause = caution;
  /** The current iteration of the event loop; `undefined` before its first call. */
  let iteration: Iteration | undefined;

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
    const current = iteration ?? startIteration(startedAt);
    try {
      return call();
    } finally {
      const ended = now();
      const duration = ended - startedAt;
      if (duration <= slow) current.taken += duration;
      else takeLong(current, startedAt, ended);
    }
  }

  function startIteration(startedAt: number): Iteration {
    setImmediate(() => {
      iteration = undefined;
    });
    iteration = { startedAt, taken: 0, measured: { at: startedAt, ...threadTimes() } };
    return iteration;
  }

  /** Judges a long call by the time in which the thread slept. */
  function takeLong(current: Iteration, startedAt: number, ended: number): void {
    const duration = ended - startedAt;
    const before = current.measured;
    current.measured = { at: ended, ...threadTimes() };
    const ran = current.measured.ran - before.ran;
    const waited = current.measured.waited - before.waited;
    const slept = Math.min(ended - before.at - ran - waited + TICK_MS, duration);
    const delay = Math.min(waited, duration);
    current.taken += duration - delay;
    current.startedAt += delay;
    if (slept > slow) noteSlow(startedAt, ended, slept);
  }

  function noteSlow(startedAt: number, ended: number, duration: number): void {
    const isAccident = startedAt - lastSlow >= near && duration < UNMISTAKABLE_MS;
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
