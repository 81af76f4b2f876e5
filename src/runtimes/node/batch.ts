import { AsyncResource } from "node:async_hooks";

/** A task, and the values of `AsyncLocalStorage` with which it was added. */
interface Added {
  readonly context: AsyncResource;
  readonly task: () => void;
}

/**
 * Creates a batch: tasks of several requests that run in one row, each with the values of `AsyncLocalStorage` of its
 * own request. `schedule`: called with the function that runs the row, when its first task is added. Tasks never throw.
 */
export function createBatch(schedule: (run: () => void) => void): (task: () => void) => void {
  let added: Added[] = [];

  function run(): void {
    const row = added;
    added = [];
    for (const { context, task } of row) context.runInAsyncScope(task);
  }

  return (task) => {
    added.push({ context: new AsyncResource("FILEFERRY_REQUEST"), task });
    if (added.length === 1) schedule(run);
  };
}
