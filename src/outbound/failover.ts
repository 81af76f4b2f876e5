/** The URLs that failed recently (4.7, rule 3). */
export interface Suspensions<U> {
  isSuspended(url: U): boolean;
  /**
   * Suspends a URL that did not respond. Returns whether this started a suspension: false if the URL is already
   * suspended.
   */
  suspend(url: U): boolean;
  /** Ends the suspension of a URL that responded. */
  lift(url: U): void;
}

/** How long a suspension lasts, and a clock in milliseconds. */
export interface SuspensionOptions {
  /** 0: URLs are never suspended. */
  readonly suspendSeconds: number;
  readonly clock: () => number;
}

/** Creates the suspensions of one set of URLs. */
export function createSuspensions<U>({ suspendSeconds, clock }: SuspensionOptions): Suspensions<U> {
  const since = new Map<U, number>();

  function isSuspended(url: U): boolean {
    const startedAt = since.get(url);
    if (startedAt === undefined) return false;
    const now = clock();
    // If the clock was set back, the suspension must not last longer than configured.
    if (now < startedAt) since.set(url, now);
    return now - startedAt < suspendSeconds * 1000;
  }

  function suspend(url: U): boolean {
    if (suspendSeconds === 0 || isSuspended(url)) return false;
    since.set(url, clock());
    return true;
  }

  return { isSuspended, suspend, lift: (url) => void since.delete(url) };
}

/**
 * Asks one URL after the other until one responds (4.7, rule 2): first those that are not suspended, then the suspended
 * ones, each group in the configured order. A suspended URL is still asked, because it may be the only one that works
 * (CONTRACT 9.2). Returns the outcome of each URL; a response can only be the last one.
 */
export async function askInOrder<U, O extends { readonly responded: boolean }>(
  urls: readonly U[],
  isSuspended: (url: U) => boolean,
  ask: (url: U) => Promise<O>,
): Promise<readonly O[]> {
  const outcomes: O[] = [];
  const suspended = new Set(urls.filter(isSuspended));
  for (const url of [...urls.filter((each) => !suspended.has(each)), ...suspended]) {
    const outcome = await ask(url);
    outcomes.push(outcome);
    if (outcome.responded) break;
  }
  return outcomes;
}
