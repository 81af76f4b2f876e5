/** Runs the action of a key. Callers that come while one runs share one further run, which starts after it. */
export type SharedRuns = (key: string, action: () => Promise<void>) => Promise<void>;

/** The run in progress of a key. */
interface Run {
  readonly done: Promise<void>;
  /** The run after it, if a caller waits for one. */
  next: Promise<void> | undefined;
}

/**
 * Creates a {@link SharedRuns}, for actions such as a flush to a device: a run that started earlier may have missed
 * what the caller did before. All that share a run share its failure too.
 */
export function createSharedRuns(): SharedRuns {
  const runs = new Map<string, Run>();

  function start(key: string, action: () => Promise<void>): Promise<void> {
    const run: Run = { done: runNow(action), next: undefined };
    runs.set(key, run);
    const end = (): void => {
      if (run.next === undefined) runs.delete(key);
    };
    run.done.then(end, end);
    return run.done;
  }

  return function share(key, action) {
    const current = runs.get(key);
    if (current === undefined) return start(key, action);
    const next = (): Promise<void> => start(key, action);
    current.next ??= current.done.then(next, next);
    return current.next;
  };
}

/** An action that throws fails its run. */
async function runNow(action: () => Promise<void>): Promise<void> {
  return action();
}
