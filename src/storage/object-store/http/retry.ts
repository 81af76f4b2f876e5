import { parseRetryAfter } from "../../../http/retry-after.ts";

/** How requests are retried. Durations are in milliseconds. */
export interface RetrySettings {
  readonly retries: number;
  /** Upper bound of the wait before the first retry. It doubles with each retry. */
  readonly retryDelay: number;
  readonly maxRetryDelay: number;
  readonly clock: () => number;
  readonly random: () => number;
}

/** Statuses of temporary failures. */
const PASSING: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504, 509]);
/** Error codes of temporary failures that arrive with status 400 or inside a 200. */
const PASSING_CODES: ReadonlySet<string> = new Set([
  "InternalError",
  "RequestTimeout",
  "ServiceUnavailable",
  "SlowDown",
]);

/** Whether a failure is temporary, so that a retry may succeed. */
export function isTemporary(status: number, code: string): boolean {
  return PASSING.has(status) || PASSING_CODES.has(code);
}

/**
 * Returns how long to wait before the next attempt, in milliseconds. `attempt` is the number of the last attempt, from
 * 1. `retryAfter` is that header of its response.
 */
export function toWait(
  attempt: number,
  retryAfter: string | null,
  { retryDelay, maxRetryDelay, random, clock }: Omit<RetrySettings, "retries">,
): number {
  const backoff = random() * retryDelay * 2 ** (attempt - 1);
  return Math.min(Math.max(backoff, parseRetryAfter(retryAfter, clock())), maxRetryDelay);
}
