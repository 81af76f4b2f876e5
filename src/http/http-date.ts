const IMF_FIXDATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
const RFC850_DATE = /^[A-Z][a-z]{5,8}, (\d{2})-([A-Z][a-z]{2})-(\d{2}) (\d{2}:\d{2}:\d{2}) GMT$/;
const ASCTIME_DATE = /^[A-Z][a-z]{2} ([A-Z][a-z]{2}) ([ \d]\d) (\d{2}:\d{2}:\d{2}) (\d{4})$/;

/** Maximum number of memoized dates. Most responses repeat a few dates. */
const MAX_DATES = 500;
const known = new Map<number, string>();

/** Formats a date as an HTTP-date (RFC 9110 5.6.7). */
export function toHttpDate(date: Date): string {
  const seconds = Math.floor(date.getTime() / 1000);
  const found = known.get(seconds);
  if (found !== undefined) return found;
  const text = date.toUTCString();
  if (known.size >= MAX_DATES) known.clear();
  known.set(seconds, text);
  return text;
}

/**
 * Parses an HTTP-date in any of its three forms, as POSIX milliseconds. Returns `undefined` for any other text, which
 * callers must ignore.
 */
export function parseHttpDate(text: string | null, now: number): number | undefined {
  if (text === null) return undefined;
  const parts = toDateAndTime(text, now);
  if (parts === undefined) return undefined;
  const date = new Date(parts);
  // `Date` takes years before 100 for those of our age, and 31 Feb for 2 Mar.
  date.setUTCFullYear(Number(parts.slice(7, 11)));
  return Number.isNaN(date.getTime()) || !date.toUTCString().endsWith(parts) ? undefined : date.getTime();
}

/** Returns an IMF-fixdate without the day of the week. */
function toDateAndTime(text: string, now: number): string | undefined {
  if (IMF_FIXDATE.test(text)) return text.slice(5);
  const rfc850 = RFC850_DATE.exec(text);
  if (rfc850) return `${rfc850[1]} ${rfc850[2]} ${fullYear(Number(rfc850[3]), now)} ${rfc850[4]} GMT`;
  const asctime = ASCTIME_DATE.exec(text);
  if (asctime) return `${asctime[2]?.replace(" ", "0")} ${asctime[1]} ${asctime[4]} ${asctime[3]} GMT`;
  return undefined;
}

/**
 * RFC 9110 5.6.7: a two-digit year more than 50 years in the future is the most recent past year with these digits.
 */
function fullYear(digits: number, now: number): number {
  const thisYear = new Date(now).getUTCFullYear();
  const year = thisYear - (thisYear % 100) + digits;
  return year > thisYear + 50 ? year - 100 : year;
}
