import { parseRetryAfter } from "../http/retry-after.ts";

const FIRST_MS = 1000;
const LONGEST_MS = 60_000;
/** The longest time that `Retry-After` may ask for. */
const LONGEST_ASKED_MS = 3_600_000;

/**
 * The time before the next attempt, in milliseconds. It doubles with each attempt, with some random jitter so that many
 * senders do not retry together. `Retry-After` can make it longer, in seconds or as a date (RFC 9110 10.2.3), up to an
 * hour: the clock of the receiver may be wrong.
 */
export function toRetryDelay(attempt: number, retryAfter: string | null, now: number): number {
  const own = Math.min(FIRST_MS * 2 ** attempt, LONGEST_MS) * (0.75 + Math.random() / 2);
  return Math.min(Math.max(parseRetryAfter(retryAfter, now), own), LONGEST_ASKED_MS);
}
