/** Does what is due, and resolves with how much that was. */
export type Sweep = () => Promise<number | undefined>;

/** Runs sweeps one after the other, also after one that fails. Returns the sum, or rejects with the first failure. */
export async function runSweeps(sweeps: readonly Sweep[]): Promise<number> {
  const results: Promise<number | undefined>[] = [];
  for (const sweep of sweeps) {
    results.push(sweep());
    await Promise.allSettled(results.slice(-1));
  }
  return (await Promise.all(results)).reduce<number>((sum, count = 0) => sum + count, 0);
}
