/**
 * How a disk answers. What the system has in memory it tells in microseconds, a tenth of what the detour through another thread costs;
 * but a call that waits for a device holds up everybody. So calls are made at once while they are quick, and elsewhere for a time after
 * some were slow (docs/decisions/0012-synchronous-system-calls.md).
 */
export interface LatencyGuard {
  /** Whether a call may be made at once now. */
  isFast(): boolean;
  /** Makes a call at once, and takes its time. */
  timed<T>(call: () => T): T;
}

/** So much of a turn of the event loop goes into calls at once; and from the first one on it takes no longer than that in all, as far as calls are asked for. */
const CALLS_MS = 10;
const WINDOW_MS = 50;

/** No processor is with others for so long. */
const UNMISTAKABLE_MS = 100;
/** The longest time for which a disk is not trusted. */
const MAX_CAUTION_MS = 60_000;

/** What counts as slow, in milliseconds. */
export interface LatencyGuardOptions {
  /** A call that takes longer has waited for a device or a network; or the processor was with others. */
  readonly slow: number;
  /** A slow call is taken for an accident, unless another one came within this time before. */
  readonly near: number;
  /** For so long nobody waits for that disk again; twice as long, up to a minute, where it is slow again soon after. */
  readonly caution: number;
  /** The time, from any beginning. */
  readonly now?: () => number;
}

/** Makes the pace of some calls. */
export function createLatencyGuard({
  slow,
  near,
  caution,
  now = () => performance.now(),
}: LatencyGuardOptions): LatencyGuard {
  let lastSlow = Number.NEGATIVE_INFINITY;
  let cautiousUntil = Number.NEGATIVE_INFINITY;
  let pause = caution;
  /** The current turn of the event loop: when its first call began, and how long its calls took. `undefined` before the first one. */
  let turn: { readonly began: number; taken: number } | undefined;

  /** Whoever reads one file after the other would never let the event loop go on: a turn of it has so much of this and no more. */
  function isFast(): boolean {
    const time = now();
    if (turn !== undefined && (turn.taken >= CALLS_MS || time - turn.began >= WINDOW_MS)) return false;
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
    if (turn === undefined) {
      turn = { began: startedAt, taken: 0 };
      setImmediate(() => {
        turn = undefined;
      });
    }
    turn.taken += ended - startedAt;
  }

  function noteSlow(startedAt: number, ended: number): void {
    const isAccident = startedAt - lastSlow >= near && ended - startedAt < UNMISTAKABLE_MS;
    if (!isAccident) {
      // A disk that is slow again soon after it was trusted again is left alone for longer.
      pause = startedAt - cautiousUntil < 2 * pause ? Math.min(2 * pause, MAX_CAUTION_MS) : caution;
      cautiousUntil = ended + pause;
    }
    lastSlow = ended;
  }

  return { isFast, timed };
}

/** Of calls that ask. One for all disks of the process: it is the process that waits. */
export const latencyGuard: LatencyGuard = createLatencyGuard({ slow: 10, near: 1000, caution: 500 });

/** Of calls that change a little: they may wait for a journal, also where what is asked is in memory. */
export const changePace: LatencyGuard = createLatencyGuard({ slow: 10, near: 1000, caution: 2000 });
