/** Which URLs have failed, and for how long that counts (4.7, rule 3). */
export interface Suspensions<U> {
  isSuspended(url: U): boolean;
  /** Notes that a URL gave no answer. Answers whether it is suspended from now on: false where it is already. */
  suspend(url: U): boolean;
  /** Notes that a URL has answered: what was, is over. */
  lift(url: U): void;
}

/** How long, and by which clock in milliseconds. */
export interface SuspensionOptions {
  /** 0: nothing is ever suspended. */
  readonly suspendSeconds: number;
  readonly clock: () => number;
}

/** Keeps the suspensions of one set of URLs. */
export function createSuspensions<U>({ suspendSeconds, clock }: SuspensionOptions): Suspensions<U> {
  const since = new Map<U, number>();

  function isSuspended(url: U): boolean {
    const startedAt = since.get(url);
    if (startedAt === undefined) return false;
    const now = clock();
    // A clock that was put back must not suspend for longer than it should.
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
 * Asks one URL after the other until one answers (4.7, rule 2): those that are not suspended in their order, then those that are in
 * theirs. A suspension orders the URLs, it never locks anybody out (CONTRACT 9.2): one that has failed once may be the only one that
 * works. Resolves with what came of each, the answer last, if there is one.
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
