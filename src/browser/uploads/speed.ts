/** How fast bytes go, over the last few seconds. */
export interface Pace {
  /** Tells how many bytes have gone in all; bytes per second, 0 while it cannot be said. */
  measure(total: number, now: number): number;
}

const WINDOW_MS = 6000;

export function createPace(): Pace {
  let samples: { total: number; now: number }[] = [];
  return {
    measure(total, now) {
      // Less than before: something was cancelled.
      if (total < (samples.at(-1)?.total ?? 0)) samples = [];
      samples = samples.filter((sample) => now - sample.now <= WINDOW_MS);
      samples.push({ total, now });
      const first = samples[0];
      return first === undefined || now - first.now < 500 ? 0 : ((total - first.total) * 1000) / (now - first.now);
    },
  };
}
