/** Removes what is due, and resolves with how much that was. */
export type Sweep = () => Promise<number | undefined>;

/** Runs sweeps one after the other, also after one that fails. Returns the sum, or rejects with the first failure. */
export async function runSweeps(sweeps: readonly Sweep[]): Promise<number> {
  const results: Promise<number | undefined>[] = [];
  for (const sweep of sweeps) {
    results.push(sweep());
    await Promise.allSettled(results);
  }
  return (await Promise.all(results)).reduce<number>((sum, count = 0) => sum + count, 0);
}

/**
 * Asks sources one after the other, also after one that fails, and joins what they return. If nothing was found, and a
 * source has failed that may have it, it rejects with the first failure.
 */
export async function findInEach<S, T>(
  sources: Iterable<S>,
  find: (source: S) => Promise<readonly T[]>,
): Promise<readonly T[]> {
  const found: T[] = [];
  const failures: unknown[] = [];
  for (const source of sources) {
    try {
      found.push(...(await find(source)));
    } catch (error) {
      failures.push(error);
    }
  }
  if (found.length === 0 && failures.length > 0) throw failures[0];
  return found;
}
