const undescribed = new Set<string>();
let areCounted = false;

/**
 * Has the exchanges of a method and a target that a test makes not be compared with the description, which has no words
 * for them: the caller says why.
 */
export function leaveUndescribed(method: string, target: string): void {
  undescribed.add(`${method} ${target}`);
}

/** For tests that look at each request which a service hears of: it is asked for its description when they are over. */
export function countRequests(): void {
  areCounted = true;
}

export function areRequestsCounted(): boolean {
  return areCounted;
}

/** What was left out since the last time. */
export function takeUndescribed(): ReadonlySet<string> {
  const taken = new Set(undescribed);
  undescribed.clear();
  areCounted = false;
  return taken;
}
