import { parseHttpDate } from "./http-date.ts";

/**
 * The time that `Retry-After` asks the client to wait, in milliseconds: it holds seconds, or a date (RFC 9110 10.2.3).
 * 0 if the header is missing or malformed, and for a date in the past: the server's clock may differ.
 */
export function parseRetryAfter(value: string | null, now: number): number {
  if (value !== null && /^\d{1,9}$/.test(value)) return Number(value) * 1000;
  return Math.max(0, (parseHttpDate(value, now) ?? now) - now);
}
