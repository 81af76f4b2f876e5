/** Yields the items of a list in groups of `size`; the last group may be smaller. An empty list has no groups. */
export async function* inBatches<T>(items: AsyncIterable<T>, size: number): AsyncGenerator<readonly T[], void> {
  let batch: T[] = [];
  for await (const item of items) {
    batch.push(item);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
