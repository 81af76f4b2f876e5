/** Functions that see the steps of an iteration. What `onStep` or `onEnd` throws is the error of the step. */
export interface StepWatcher<T> {
  /** Called with each value, before the reader gets it, after its promise. A failure releases the source. */
  readonly onStep?: (value: T) => void | Promise<void>;
  /** Called after the last value. The reader gets the end when its promise is fulfilled. */
  readonly onEnd?: () => void | Promise<void>;
  /** Returns what the reader gets in place of an error of the source. */
  readonly toError?: (error: unknown) => unknown;
}

/** An iteration that a reader may end early. */
export interface Steps<T> extends AsyncIterableIterator<T, undefined> {
  return(): Promise<IteratorResult<T, undefined>>;
}

/**
 * Watches the steps of a source, which is opened with the first one. An async generator with a `for await` would do the
 * same with three promises for each step instead of one, and the content of an upload passes several of them.
 */
export function watchSteps<T>(
  open: () => AsyncIterable<T>,
  { onStep, onEnd, toError = (error) => error }: StepWatcher<T>,
): Steps<T> {
  let source: AsyncIterator<T> | undefined;
  let isOver = false;

  async function next(): Promise<IteratorResult<T, undefined>> {
    if (isOver) return { done: true, value: undefined };
    source ??= start();
    let step: IteratorResult<T>;
    try {
      step = await source.next();
    } catch (error) {
      isOver = true;
      throw toError(error);
    }
    if (isOver) throw new Error("The iteration was ended while a step was pending.");
    if (step.done === true) {
      isOver = true;
      await onEnd?.();
      return { done: true, value: undefined };
    }
    try {
      const watched = onStep?.(step.value);
      if (watched) await watched;
      return step;
    } catch (error) {
      await end().catch(() => undefined);
      throw error;
    }
  }

  function start(): AsyncIterator<T> {
    try {
      return open()[Symbol.asyncIterator]();
    } catch (error) {
      isOver = true;
      throw error;
    }
  }

  async function end(): Promise<IteratorResult<T, undefined>> {
    if (!isOver) {
      isOver = true;
      await source?.return?.();
    }
    return { done: true, value: undefined };
  }

  const steps: Steps<T> = { next, return: end, [Symbol.asyncIterator]: () => steps };
  return steps;
}
