/** How {@link inParallel} works. */
export interface ParallelWork {
  /** Number of tasks that run at the same time. */
  readonly most: number;
  readonly signal?: AbortSignal | undefined;
  /** A task that fails stops no other one. Default: false. */
  readonly goesOn?: boolean;
}

/**
 * Runs a task for each item, several at the same time, and takes the next item when one of them ends. The signal that
 * the tasks get aborts when one of them fails (without `goesOn`), or with that of the caller. When the promise settles,
 * no task is running. It rejects with the first failure, or with the reason of the caller's signal.
 */
export async function inParallel<T>(
  items: AsyncIterable<T> | Iterable<T>,
  { most, signal, goesOn }: ParallelWork,
  task: (item: T, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const controller = new AbortController();
  const running = new Set<Promise<void>>();
  let failure: { readonly error: unknown } | undefined;

  function fail(error: unknown): void {
    failure ??= { error };
    if (!goesOn) controller.abort(error);
  }

  function start(item: T): void {
    const started: Promise<void> = task(item, controller.signal)
      .catch(fail)
      .then(() => void running.delete(started));
    running.add(started);
  }

  function abort(): void {
    fail(signal?.reason);
    controller.abort(signal?.reason);
  }

  if (signal?.aborted) abort();
  signal?.addEventListener("abort", abort, { once: true });
  try {
    for await (const item of items) {
      while (running.size >= most && !controller.signal.aborted) await Promise.race(running);
      if (controller.signal.aborted) break;
      start(item);
    }
  } catch (error) {
    fail(error);
  }
  await Promise.all(running);
  signal?.removeEventListener("abort", abort);
  if (failure) throw failure.error;
}
