import { type Exchange, isClientDue } from "./exchange.ts";

/** What a client has to keep up with while it sends or reads a body. */
export interface ThroughputLimits {
  /** Bytes per second, as an average over the window. 0 for no minimum. */
  readonly minBytesPerSecond: number;
  readonly windowMilliseconds: number;
  /** How long the client may move nothing. 0 for no limit. */
  readonly idleMilliseconds: number;
}

/** The state of a transfer at one check. */
interface Progress {
  /** Bytes of the request's body that have arrived, and bytes that the socket has sent. Never falls. */
  readonly moved: number;
  /** Whether the server was waiting for the client. */
  readonly isDue: boolean;
  /** How much longer the client may stay below the minimum throughput, in milliseconds. */
  readonly credit: number;
  /** How much longer the client may move nothing, in milliseconds. */
  readonly patience: number;
}

/** Checks of every transfer within the shorter one of the window and the idle time. */
const CHECKS = 12;

/**
 * Enforces a minimum throughput with a token bucket: a transfer starts with one window of credit, earns credit per
 * byte, never has more than one window, and spends it while the server waits for the client. A client without credit
 * is cut, and so is one that moves nothing for the idle time. The returned function stops the checks.
 *
 * A byte of a response counts when the system has taken the complete write that it belongs to, so no write may be
 * large: it has up to 64 KiB (`MAX_WRITE_BYTES`), or up to 512 KiB from a source, and less for a slow client
 * (`createBufferSizer`). The idle time is enforced here in addition to the socket's own timeout, because Node waits
 * twice as long when the system has taken a part of a write.
 */
export function enforceMinThroughput(
  current: () => Iterable<Exchange>,
  { minBytesPerSecond, windowMilliseconds, idleMilliseconds }: ThroughputLimits,
  cut: (exchange: Exchange) => void,
): () => void {
  const creditPerByte = minBytesPerSecond > 0 ? 1000 / minBytesPerSecond : 0;
  const maxCredit = minBytesPerSecond > 0 ? windowMilliseconds : Number.POSITIVE_INFINITY;
  const maxPatience = idleMilliseconds > 0 ? idleMilliseconds : Number.POSITIVE_INFINITY;
  const interval = Math.min(maxCredit, maxPatience) / CHECKS;
  if (interval === Number.POSITIVE_INFINITY) return () => undefined;
  const known = new WeakMap<Exchange, Progress>();
  let checkedAt = performance.now();

  function check(): void {
    const now = performance.now();
    // A process that was suspended has not waited for its clients.
    const passed = Math.min(now - checkedAt, 2 * interval);
    checkedAt = now;
    for (const exchange of current()) {
      const progress = advance(exchange, known.get(exchange), passed);
      if (progress.credit > 0 && progress.patience > 0) known.set(exchange, progress);
      else cut(exchange);
    }
  }

  function advance(exchange: Exchange, before: Progress | undefined, passed: number): Progress {
    const moved = Math.max(before?.moved ?? 0, countMoved(exchange));
    const isDue = isClientDue(exchange);
    if (before === undefined) return { moved, isDue, credit: maxCredit, patience: maxPatience };
    const gained = moved - before.moved;
    // If the server was busy for a part of the time, the client was not waited for at one of the two checks, or moved
    // something.
    const waited = before.isDue && isDue ? passed : 0;
    const credit = Math.min(maxCredit, before.credit + gained * creditPerByte - waited);
    return { moved, isDue, credit, patience: gained > 0 ? maxPatience : before.patience - waited };
  }

  const timer = setInterval(check, interval);
  timer.unref();
  return () => clearInterval(timer);
}

function countMoved({ req, body }: Exchange): number {
  const { bytesWritten, writableLength } = req.socket;
  return (body?.received() ?? 0) + bytesWritten - writableLength;
}
