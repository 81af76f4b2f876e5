import { checkOption } from "../../contracts/option-error.ts";
import type { StoredSession } from "./records.ts";
import type { SessionsOptions } from "./types.ts";

const TWO_HOURS = 7_200_000;

/** How long sessions live, and what goes with them in the store. All times are in milliseconds. */
export interface SessionLifetime {
  /** Returns how long a session is valid if it is not used; 0 or less if it has expired. */
  remaining(session: StoredSession): number;
  isAlive(session: StoredSession): boolean;
  /** Whether a use must be written now, because the last one was written a while ago. */
  isRenewalDue(session: StoredSession): boolean;
  /**
   * How long the store keeps a session after it has expired, so that a client that returns late learns why it is
   * refused.
   */
  readonly grace: number;
  /** The longest time that a session can be in the store. */
  readonly longest: number;
  /** How long an end marker is kept: longer than a renewal or the check of a running transfer may be late. */
  readonly endMarker: number;
  /**
   * How long the record of a password change is kept. That is longer than any session or remembered login that started
   * before the change: a remembered login lasts an hour at most.
   */
  readonly generation: number;
}

/** Creates the lifetime of the sessions of a service. Throws `TypeError` for a duration that is not positive. */
export function createSessionLifetime(
  { idleSeconds, maxSeconds }: Pick<SessionsOptions, "idleSeconds" | "maxSeconds">,
  clock: () => number,
): SessionLifetime {
  const idle = toMilliseconds(idleSeconds, "idleSeconds");
  const max = toMilliseconds(maxSeconds, "maxSeconds");
  const longest = max + idle;

  function remaining({ created, seen }: StoredSession): number {
    return Math.min(seen + idle, created + max) - clock();
  }

  return {
    remaining,
    isAlive: (session) => remaining(session) > 0,
    isRenewalDue: ({ seen }) => clock() - seen >= idle / 20,
    grace: idle,
    longest,
    endMarker: Math.max(idle, TWO_HOURS),
    generation: Math.max(longest, TWO_HOURS),
  };
}

function toMilliseconds(seconds: number, option: string): number {
  checkOption(Number.isFinite(seconds) && seconds > 0, option, "a positive number of seconds");
  return seconds * 1000;
}
