import type { Sample } from "./prometheus-text.ts";

/** Sums by label. */
export interface Tally {
  add(labels: Readonly<Record<string, string>>, amount?: number): void;
  samples(): readonly Sample[];
}

/** Creates sums that start at zero. */
export function createTally(): Tally {
  const entries = new Map<string, { readonly labels: Readonly<Record<string, string>>; value: number }>();

  function add(labels: Readonly<Record<string, string>>, amount = 1): void {
    const key = JSON.stringify(labels);
    const entry = entries.get(key);
    if (entry === undefined) entries.set(key, { labels, value: amount });
    else entry.value += amount;
  }

  return { add, samples: () => [...entries.values()].map(({ labels, value }) => ({ labels, value })) };
}

/** The distribution of values by label. */
export interface Histogram {
  observe(labels: Readonly<Record<string, string>>, value: number): void;
  samples(): readonly Sample[];
}

/** Creates a histogram. `bounds` are the upper bounds of its buckets, in ascending order. */
export function createHistogram(bounds: readonly number[]): Histogram {
  const entries = new Map<
    string,
    { readonly labels: Readonly<Record<string, string>>; readonly counts: number[]; sum: number }
  >();

  function observe(labels: Readonly<Record<string, string>>, value: number): void {
    const key = JSON.stringify(labels);
    const entry = entries.get(key) ?? { labels, counts: new Array<number>(bounds.length + 1).fill(0), sum: 0 };
    entries.set(key, entry);
    const bucket = bounds.findIndex((bound) => value <= bound);
    const index = bucket < 0 ? bounds.length : bucket;
    entry.counts[index] = (entry.counts[index] as number) + 1;
    entry.sum += value;
  }

  function toSamples({
    labels,
    counts,
    sum,
  }: {
    readonly labels: Readonly<Record<string, string>>;
    readonly counts: readonly number[];
    readonly sum: number;
  }): readonly Sample[] {
    let total = 0;
    const buckets = [...bounds.map(String), "+Inf"].map((le, index): Sample => {
      total += counts[index] as number;
      return { suffix: "_bucket", labels: { ...labels, le }, value: total };
    });
    return [...buckets, { suffix: "_sum", labels, value: sum }, { suffix: "_count", labels, value: total }];
  }

  return { observe, samples: () => [...entries.values()].flatMap(toSamples) };
}
