import { checkOption } from "../../contracts/option-error.ts";
import type { StoredSession } from "./records.ts";
import type { SessionsOptions } from "./types.ts";

const TWO_HOURS = 7_200_000;
/** The default of `session.idleSeconds`. */
export const DEFAULT_IDLE_SECONDS = 1800;

/** How long sessions live, and what goes with them in the store. All times are in milliseconds. */
export interface SessionLifetime {
  /** Returns how long a session is valid if it is not used; 0 or less if it has expired. */
  remaining(session: StoredSession): number;
  isAlive(session: StoredSession): boolean;
  /** Whether the last use that was written is so long ago that a use now has to be written. */
  isRenewalDue(session: StoredSession): boolean;
  /**
   * How long the store keeps a session after it has expired: one idle time, so that a client's late return can be
   * reported.
   */
  readonly grace: number;
  /** The longest time that a session can be in the store. */
  readonly longest: number;
  /** How long an end marker is kept: longer than a renewal, and a check of a running transfer, may be late. */
  readonly endMarker: number;
  /**
   * How long the record of a password change is kept: longer than a login in progress could live, which is its session,
   * or a remembered login (at most an hour).
   */
  readonly generation: number;
}

/** Creates the lifetime of the sessions of a service. Throws `TypeError` for a duration that is not positive. */
export function createSessionLifetime(
  { idleSeconds = DEFAULT_IDLE_SECONDS, maxSeconds = 43_200 }: Pick<SessionsOptions, "idleSeconds" | "maxSeconds">,
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
