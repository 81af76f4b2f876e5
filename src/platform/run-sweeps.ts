/** Does what is due, and resolves with how much that was. Rejects with the reason of the signal if that aborts. */
export type Sweep = (signal?: AbortSignal) => Promise<number | undefined>;

/**
 * Runs sweeps one after the other, also after one that fails, until the signal aborts. Returns the sum, or rejects with
 * the reason of the signal or the first failure.
 */
export async function runSweeps(sweeps: readonly Sweep[], signal?: AbortSignal): Promise<number> {
  const results: Promise<number | undefined>[] = [];
  for (const sweep of sweeps) {
    signal?.throwIfAborted();
    results.push(sweep(signal));
    await Promise.allSettled(results.slice(-1));
  }
  return (await Promise.all(results)).reduce<number>((sum, count = 0) => sum + count, 0);
}
