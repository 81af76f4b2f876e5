import type { Exchange } from "./exchange.ts";

/** A task for an exchange. It never throws. */
type Task = () => void;

/**
 * Creates a batch: tasks of several exchanges that run in one row, each with the values of `AsyncLocalStorage` of its
 * own request. `schedule`: called with the function that runs the row, when its first task is added.
 */
export function createBatch(schedule: (run: () => void) => void): (exchange: Exchange, task: Task) => void {
  let added: (readonly [exchange: Exchange, task: Task])[] = [];

  function run(): void {
    const row = added;
    added = [];
    for (const [{ context }, task] of row) context.runInAsyncScope(task);
  }

  return (exchange, task) => {
    added.push([exchange, task]);
    if (added.length === 1) schedule(run);
  };
}
