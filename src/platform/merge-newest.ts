/** Something whose ID begins with its time. */
interface Timed {
  readonly id: string;
}

/**
 * Merges sources that each have the newest first to one that has. It reads one item of each source ahead. A source that
 * fails ends, and the others go on. If all of them have failed, it rejects with the first failure.
 */
export async function* mergeNewest<T extends Timed>(sources: readonly AsyncIterable<T>[]): AsyncGenerator<T> {
  const iterators = sources.map((source) => source[Symbol.asyncIterator]());
  const failures: unknown[] = [];

  /** Returns the next item, or none. */
  async function next(iterator: AsyncIterator<T> | undefined): Promise<readonly T[]> {
    try {
      const step = await iterator?.next();
      return step === undefined || step.done ? [] : [step.value];
    } catch (error) {
      failures.push(error);
      return [];
    }
  }

  try {
    const heads = await Promise.all(iterators.map(next));
    for (;;) {
      const [newest] = heads.flat().sort((one, other) => (one.id > other.id ? -1 : 1));
      if (newest === undefined) break;
      yield newest;
      const at = heads.findIndex(([head]) => head === newest);
      heads[at] = await next(iterators[at]);
    }
    if (failures.length > 0 && failures.length === sources.length) throw failures[0];
  } finally {
    for (const iterator of iterators) await iterator.return?.();
  }
}
