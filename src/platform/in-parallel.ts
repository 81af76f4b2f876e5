/** How {@link inParallel} works. */
export interface ParallelWork {
  /** Number of tasks that run at the same time. */
  readonly most: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs a task for each item, several at the same time, and takes the next item when one of them ends. The signal that
 * the tasks get aborts when one of them fails, or with that of the caller. When the promise settles, no task is
 * running. It rejects with the first failure, or with the reason of the caller's signal.
 */
export async function inParallel<T>(
  items: AsyncIterable<T> | Iterable<T>,
  { most, signal }: ParallelWork,
  task: (item: T, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const controller = new AbortController();
  const running = new Set<Promise<void>>();
  let failure: { readonly error: unknown } | undefined;

  function fail(error: unknown): void {
    failure ??= { error };
    controller.abort(error);
  }

  function start(item: T): void {
    const started: Promise<void> = task(item, controller.signal)
      .catch(fail)
      .then(() => void running.delete(started));
    running.add(started);
  }

  const abort = (): void => fail(signal?.reason);
  if (signal?.aborted) abort();
  signal?.addEventListener("abort", abort, { once: true });
  try {
    for await (const item of items) {
      while (running.size >= most && failure === undefined) await Promise.race(running);
      if (failure !== undefined) break;
      start(item);
    }
  } catch (error) {
    fail(error);
  }
  await Promise.all(running);
  signal?.removeEventListener("abort", abort);
  if (failure !== undefined) throw failure.error;
}
