import { createError } from "../http/errors.ts";

/** Seconds since 1970, perhaps with a fraction. */
const SECONDS = /^-?\d{1,12}(?:\.\d+)?$/;
/** The times that an HTTP-date can represent, with four digits for the year. */
const [FIRST, LAST] = [Date.parse("0001-01-01T00:00:00Z"), Date.parse("9999-12-31T23:59:59Z")];

/**
 * Parses `X-OC-Mtime`, the time that an uploaded file shall have; `undefined` if it is absent. Some clients send it as
 * a fraction of a second, too.
 * @throws HttpError `malformed` for anything but seconds since 1970.
 */
export function parseOcMtime(headers: Headers): Date | undefined {
  const value = headers.get("x-oc-mtime");
  if (value === null) return undefined;
  const time = SECONDS.test(value) ? Math.round(Number(value) * 1000) : Number.NaN;
  if (!(time >= FIRST && time <= LAST)) throw createError("modified-time-invalid");
  return new Date(time);
}
