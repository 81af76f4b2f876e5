import { isWebdavMethod } from "../http/methods.ts";
import { isByScript, type Variant } from "../http/negotiate.ts";

/** The configuration that decides on challenges. */
export interface ChallengeOptions {
  /** `announce`: whether the session challenge is on (CONTRACT 6.2). */
  readonly session: { readonly announce: boolean };
  /** The challenge of the host's function `identify`. */
  readonly identityChallenge: string | undefined;
}

/** The Basic challenge (5.1.2). */
const BASIC_CHALLENGE = 'basic realm="Web files access"';

const SESSION_CHALLENGE = "session";

/**
 * Returns the value of `WWW-Authenticate` for a 401 (7.1). The configuration can turn the session challenge off
 * (CONTRACT 6.2). `identityChallenge` replaces that of the configuration. All clients get it: browsers show no dialog
 * for it.
 */
export function toChallenges(
  request: Request,
  variant: Variant,
  { session, identityChallenge: configured }: ChallengeOptions,
  identityChallenge = configured,
): string {
  // Some WebDAV clients fail at a scheme that they do not know.
  if (isWebdavMethod(request.method)) return BASIC_CHALLENGE;
  return join(toOwnChallenges(request, variant, session.announce), identityChallenge);
}

/** Returns the value of `WWW-Authenticate` for a browser that shall ask for Basic credentials. */
export function toBasicChallenges({ identityChallenge }: ChallengeOptions): string {
  return join(BASIC_CHALLENGE, identityChallenge);
}

function join(own: string, identityChallenge: string | undefined): string {
  return identityChallenge === undefined ? own : `${own}, ${identityChallenge}`;
}

/**
 * A browser that shows our pages, and a script in a browser, get the session challenge only: for a Basic challenge the
 * browser would open its own dialog before it shows our login page, or in the middle of an application. If the session
 * challenge is off, Basic is the only challenge left, so every client but such scripts gets it.
 */
function toOwnChallenges({ headers }: Request, variant: Variant, announceSession: boolean): string {
  if (isBrowserScript(headers)) return SESSION_CHALLENGE;
  if (!announceSession) return BASIC_CHALLENGE;
  const isOurPage = variant === "html" || isByScript({ headers });
  // A client that sends `Authorization` is not a browser on our pages: it gets both challenges (7.1).
  return isOurPage && !headers.has("authorization") ? SESSION_CHALLENGE : `${BASIC_CHALLENGE}, ${SESSION_CHALLENGE}`;
}

/** Whether a script in a browser has sent the request. Node's `fetch` has the same mode, but shows no dialogs. */
function isBrowserScript(headers: Headers): boolean {
  return headers.get("sec-fetch-mode") === "cors" && !/^(?:node|undici)$/.test(headers.get("user-agent") ?? "");
}
