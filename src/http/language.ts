import Negotiator from "negotiator";

/** Which of the languages that there are an `Accept-Language` value prefers (RFC 9110 12.5.4); `undefined` when it names none of them. */
export function preferredLanguage(acceptLanguage: string, available: readonly string[]): string | undefined {
  return new Negotiator({ headers: { "accept-language": acceptLanguage } }).languages([...available])[0];
}
