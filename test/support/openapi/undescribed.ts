const undescribed = new Set<string>();
let areCounted = false;

/**
 * Excludes the exchanges of a method and a target from the comparison, as the description does not cover them. Say why
 * at the call.
 */
export function leaveUndescribed(method: string, target: string): void {
  undescribed.add(`${method} ${target}`);
}

/** For tests that count the requests to a service: it is asked for its description only after them. */
export function countRequests(): void {
  areCounted = true;
}

export function areRequestsCounted(): boolean {
  return areCounted;
}

/** Returns what was excluded since the last call. */
export function takeUndescribed(): ReadonlySet<string> {
  const taken = new Set(undescribed);
  undescribed.clear();
  areCounted = false;
  return taken;
}
