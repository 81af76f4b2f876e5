import { type Exchange, isClientDue } from "./exchange.ts";
import { countSent } from "./kernel-send-queue.ts";

/** What a client that sends or takes a body has to keep up with. */
export interface ThroughputOptions {
  /** Bytes a second, on the average of the window. 0: any pace will do. */
  readonly minBytesPerSecond: number;
  readonly windowMilliseconds: number;
}

/** How a transfer has gone so far. */
interface Progress {
  /** Bytes of the request's body, and bytes that the client's system has taken. */
  moved: number;
  /** Whether it was the client that was waited for when this was noted. */
  isDue: boolean;
  /** So long the client may go on without another byte. */
  leftMilliseconds: number;
}

/** The looks at all transfers within one window. */
const LOOKS = 12;

/**
 * Looks after the pace of transfers: each has a window's time at its begin, gains more by every byte that it moves, never beyond a window, and
 * loses it while it is the client that is waited for. Who has none left is cut. So what a system passes on in lumps of some seconds, and
 * silence for a while, cost nothing as long as the average holds. The returned function ends it.
 *
 * Nothing is done for a transfer that is over before the first look at it.
 */
export function enforceMinThroughput(
  current: () => Iterable<Exchange>,
  { minBytesPerSecond, windowMilliseconds }: ThroughputOptions,
  cut: (exchange: Exchange) => void,
): () => void {
  const known = new WeakMap<Exchange, Progress>();
  const interval = windowMilliseconds / LOOKS;
  let lookedAt = performance.now();

  function look(): void {
    const now = performance.now();
    // A process that stood still has not waited for anybody.
    const passed = Math.min(now - lookedAt, 2 * interval);
    lookedAt = now;
    for (const exchange of current()) {
      const next = judge(exchange, known.get(exchange), passed);
      if (next.leftMilliseconds > 0) known.set(exchange, next);
      else cut(exchange);
    }
  }

  function judge(exchange: Exchange, before: Progress | undefined, passed: number): Progress {
    const moved = Math.max(before?.moved ?? 0, countMoved(exchange));
    const isDue = isClientDue(exchange);
    if (before === undefined) return { moved, isDue, leftMilliseconds: windowMilliseconds };
    const gained = ((moved - before.moved) * 1000) / minBytesPerSecond;
    // Between two looks at which the client was due it has moved something if anything else happened.
    const lost = before.isDue && isDue ? passed : 0;
    return { moved, isDue, leftMilliseconds: Math.min(windowMilliseconds, before.leftMilliseconds + gained - lost) };
  }

  const timer = setInterval(look, interval);
  timer.unref();
  return () => clearInterval(timer);
}

function countMoved({ req, body }: Exchange): number {
  return (body?.received() ?? 0) + countSent(req.socket);
}
