import type { Variant } from "../http/negotiate.ts";

/** The Basic challenge (5.1.2). */
export const BASIC_CHALLENGE = 'basic realm="Web files access"';

const SESSION_CHALLENGE = "session";

/**
 * The values of `WWW-Authenticate` on a 401 (7.1); the session challenge can be left out (CONTRACT 6.2). A browser that shows one of our
 * pages gets no Basic challenge, in the page and to its script: it would open a box of its own before anything of ours. Without the session challenge there is no
 * other: then it does.
 */
export function toChallenges({ headers }: Request, variant: Variant, announceSession: boolean): readonly string[] {
  if (!announceSession) return [BASIC_CHALLENGE];
  const isOurPage = variant === "html" || headers.get("x-requested-with") === "XMLHttpRequest";
  // One that sent an Authorization itself is none: it gets both (7.1).
  return isOurPage && !headers.has("authorization") ? [SESSION_CHALLENGE] : [BASIC_CHALLENGE, SESSION_CHALLENGE];
}
