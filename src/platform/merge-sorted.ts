/**
 * Merges sorted sources to one that is sorted, too. It reads one item of each source ahead. `compare`: as for `sort`.
 */
export async function* mergeSorted<T>(
  sources: readonly AsyncIterable<T>[],
  compare: (one: T, other: T) => number,
): AsyncGenerator<T> {
  const iterators = sources.map((source) => source[Symbol.asyncIterator]());
  try {
    const heads = await Promise.all(iterators.map(async (iterator) => ({ iterator, step: await iterator.next() })));
    for (;;) {
      const [first, ...others] = heads.filter(({ step }) => step.done !== true);
      if (first === undefined) return;
      const least = others.reduce((best, one) => (compare(one.step.value, best.step.value) < 0 ? one : best), first);
      yield least.step.value;
      least.step = await least.iterator.next();
    }
  } finally {
    for (const iterator of iterators) await iterator.return?.();
  }
}
