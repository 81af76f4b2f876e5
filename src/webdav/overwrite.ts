import { createError } from "../http/errors.ts";

/**
 * Whether a COPY or MOVE may replace what exists at its destination (RFC 4918 10.6): yes, unless `Overwrite` is `F`.
 * @throws HttpError `malformed` for a value that is neither `T` nor `F`.
 */
export function mayOverwrite(headers: Headers): boolean {
  const value = headers.get("overwrite")?.toUpperCase() ?? "T";
  if (value !== "T" && value !== "F") throw createError("overwrite-invalid");
  return value === "T";
}
