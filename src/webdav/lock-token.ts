import { createError } from "../http/errors.ts";
import { trimOptionalWhitespace } from "../http/optional-whitespace.ts";

/** An absolute URI, as the grammar of RFC 4918 needs it: a scheme, and no character that cannot be in a URI. */
const ABSOLUTE_URI = /^[a-z][a-z0-9+.-]*:[!#-;=?-~]*$/i;

/** Whether a text is a state token: an absolute URI (RFC 4918 10.1). */
export function isStateToken(text: string): boolean {
  return ABSOLUTE_URI.test(text);
}

/**
 * Parses a `Lock-Token` header (RFC 4918 10.5), with or without `<` and `>`: Explorer and some libraries leave them
 * out. Returns `undefined` if it is absent or malformed.
 */
export function parseLockToken(headers: Headers): string | undefined {
  const value = trimOptionalWhitespace(headers.get("lock-token") ?? "");
  const token = value.startsWith("<") && value.endsWith(">") ? value.slice(1, -1) : value;
  return isStateToken(token) ? token : undefined;
}

/**
 * The token of an UNLOCK.
 * @throws HttpError `malformed` if it is absent or malformed.
 */
export function requireLockToken(headers: Headers): string {
  const token = parseLockToken(headers);
  if (token !== undefined) return token;
  throw createError(headers.has("lock-token") ? "lock-token-invalid" : "lock-token-missing");
}
