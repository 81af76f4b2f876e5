/** Limits what runs in parallel. */
export interface Permits {
  /** Waits until a permit is free. */
  acquire(): Promise<void>;
  release(): void;
}

/** Creates a number of permits. They are given in the order of the requests. */
export function createPermits(count: number): Permits {
  const waiting: (() => void)[] = [];
  let left = count;

  async function acquire(): Promise<void> {
    if (left > 0) left -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
  }

  function release(): void {
    const next = waiting.shift();
    if (next === undefined) left += 1;
    else next();
  }

  return { acquire, release };
}

/** Runs a task when a permit is free. */
export async function withPermit<T>(permits: Permits, task: () => Promise<T>): Promise<T> {
  await permits.acquire();
  try {
    return await task();
  } finally {
    permits.release();
  }
}
