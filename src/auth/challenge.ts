/** The Basic challenge (5.1.2). */
export const BASIC_CHALLENGE = 'basic realm="Web files access"';

/** The values of `WWW-Authenticate` on a 401 (7.1); the session challenge can be left out (CONTRACT 6.2). */
export function toChallenges(announceSession: boolean): readonly string[] {
  return announceSession ? [BASIC_CHALLENGE, "session"] : [BASIC_CHALLENGE];
}
