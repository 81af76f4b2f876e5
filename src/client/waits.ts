import type { FileferryError } from "./error.ts";

/** Seconds before each attempt since something has arrived last; 15 before all further ones. */
const DELAYS = [0, 1, 2, 4, 8];
/** Failures that may pass: no response (0), statuses below 500, and those from 500 on that do not. */
const TEMPORARY = [0, 408, 409, 423, 425, 429];
const PERMANENT = [501, 505, 507];

/**
 * How many milliseconds to wait before an upload continues. Returns `undefined` if it should not.
 * `failures` is how often it has failed since something arrived.
 */
export function toDelay({ status = 0, retryAfter = 0 }: FileferryError, failures: number): number | undefined {
  const isTemporary = TEMPORARY.includes(status) || (status >= 500 && !PERMANENT.includes(status));
  if (!isTemporary) return undefined;
  const seconds = DELAYS[failures] ?? 15;
  // Clients that a restart has cut off at the same time do not come back at the same time.
  return 1000 * Math.max(retryAfter, seconds * (0.75 + Math.random() / 2));
}

/** Waits. @throws the reason of the signal. */
export function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", abort);
  });
}

/**
 * Waits for a result, or for the signal: `discard` then gets a result that comes later.
 * @throws the reason of the signal.
 */
export function untilAborted<T>(
  result: Promise<T>,
  signal: AbortSignal | undefined,
  discard: (late: T) => unknown,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      reject(signal?.reason);
      result.then(discard).catch(() => undefined);
    };
    signal?.addEventListener("abort", abort);
    result.then(resolve, reject).finally(() => signal?.removeEventListener("abort", abort));
  });
}
