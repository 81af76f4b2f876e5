import type { Variant } from "../http/negotiate.ts";

/** The Basic challenge (5.1.2). */
export const BASIC_CHALLENGE = 'basic realm="Web files access"';

const SESSION_CHALLENGE = "session";

/**
 * The values of `WWW-Authenticate` on a 401 (7.1); the session challenge can be left out (CONTRACT 6.2). A browser that shows one of our
 * pages gets no Basic challenge, in the page and to its script: it would open a box of its own before anything of ours.
 */
export function toChallenges({ headers }: Request, variant: Variant, announceSession: boolean): readonly string[] {
  // One that sent an Authorization itself is none: it gets both (7.1).
  const isPage = variant === "html" && !headers.has("authorization");
  const isOurPage = isPage || headers.get("x-requested-with") === "XMLHttpRequest";
  if (isOurPage) return [SESSION_CHALLENGE];
  return announceSession ? [BASIC_CHALLENGE, SESSION_CHALLENGE] : [BASIC_CHALLENGE];
}
