import { parseRetryAfter } from "../http/retry-after.ts";

const FIRST_MS = 1000;
const LONGEST_MS = 60_000;
/** Nobody is waited for longer, whatever they ask for. */
const LONGEST_ASKED_MS = 3_600_000;

/**
 * How long to wait before something is sent again, in milliseconds: twice as long each time, a little less or more so that many do not come at once; longer where
 * `Retry-After` says so, in seconds or as a date (RFC 9110 10.2.3), whose clock may be another.
 */
export function toRetryDelay(attempt: number, retryAfter: string | null, now: number): number {
  const own = Math.min(FIRST_MS * 2 ** attempt, LONGEST_MS) * (0.75 + Math.random() / 2);
  return Math.min(Math.max(parseRetryAfter(retryAfter, now), own), LONGEST_ASKED_MS);
}
