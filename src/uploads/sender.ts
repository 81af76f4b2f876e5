import { createError } from "../http/errors.ts";
import { isMemberName } from "../http/path-segment.ts";

/** The header of a PUT that has the sender's name, percent-encoded (SHARING 6.4). */
export const SENDER_HEADER = "X-Sender";

const MAX_CHARACTERS = 100;

/**
 * Checks the name that the sender of a file has entered. Spaces around it do not count.
 * @throws HttpError `sender-missing`, `sender-invalid`
 */
export function parseSender(text: string | undefined): string {
  const name = text?.trim() ?? "";
  if (name === "") throw createError("sender-missing");
  if (isMemberName(name) && [...name].length <= MAX_CHARACTERS) return name;
  throw createError("sender-invalid", { values: { max: MAX_CHARACTERS } });
}

/** Reads the name from the header of a request. @throws as {@link parseSender} does. */
export function readSender(headers: Headers): string {
  const value = headers.get(SENDER_HEADER);
  return parseSender(value === null ? undefined : decode(value));
}

function decode(value: string): string {
  try {
    // Only what is percent-encoded has a known encoding.
    if (/^[\t\u0020-\u007e]*$/.test(value)) return decodeURIComponent(value);
  } catch {
    // The error below says it.
  }
  throw createError("sender-invalid", { values: { max: MAX_CHARACTERS } });
}
