import Negotiator from "negotiator";

/** Nobody reads more languages than fit in it; what is longer would only take time. */
const MAX_CHARACTERS = 500;

/** Which of the languages that there are an `Accept-Language` value prefers (RFC 9110 12.5.4); `undefined` when it names none of them. */
export function preferredLanguage(acceptLanguage: string, available: readonly string[]): string | undefined {
  return new Negotiator({ headers: { "accept-language": acceptLanguage.slice(0, MAX_CHARACTERS) } }).languages([
    ...available,
  ])[0];
}
