import Negotiator from "negotiator";

/** Maximum length that is parsed. A longer value would only cost time: it has more languages than anyone reads. */
const MAX_CHARACTERS = 500;

/**
 * The available language that an `Accept-Language` value prefers (RFC 9110 12.5.4); `undefined` if it names none of
 * them.
 */
export function preferredLanguage(acceptLanguage: string, available: readonly string[]): string | undefined {
  return new Negotiator({ headers: { "accept-language": acceptLanguage.slice(0, MAX_CHARACTERS) } }).languages([
    ...available,
  ])[0];
}
