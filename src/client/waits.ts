import type { FileferryError } from "./error.ts";

/** Seconds before each attempt since something has arrived last; the last one repeats. */
const DELAYS = [0, 1, 2, 4, 8, 15];
/** Failures that may pass: statuses below 500, and those from 500 on that do not. */
const TEMPORARY = [408, 409, 423, 425, 429];
const PERMANENT = [501, 505, 507];

/**
 * How many milliseconds to wait before an upload continues. Returns `undefined` if it should not.
 * `failures` is how often it has failed since something arrived.
 */
export function toDelay({ status, retryAfter = 0 }: FileferryError, failures: number): number | undefined {
  const isTemporary =
    status === undefined || TEMPORARY.includes(status) || (status >= 500 && !PERMANENT.includes(status));
  if (!isTemporary) return undefined;
  const seconds = DELAYS[Math.min(failures, DELAYS.length - 1)] ?? 0;
  // Clients that a restart has cut off at the same time do not come back at the same time.
  return 1000 * Math.max(retryAfter, seconds * (0.75 + Math.random() / 2));
}

/** Waits. @throws the reason of the signal. */
export function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", abort, { once: true });
  });
}

/** Waits for a result, or for the signal. @throws the reason of the signal. */
export async function untilAborted<T>(result: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return result;
  let abort = (): void => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    abort = () => reject(signal.reason);
  });
  signal.addEventListener("abort", abort);
  return Promise.race([result, aborted]).finally(() => signal.removeEventListener("abort", abort));
}
