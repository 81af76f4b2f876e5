import { createRequestMutex } from "../../platform/keyed-mutex.ts";

/** Lets one caller at a time exchange what is at a path, in this process. */
export interface Turns {
  /** Waits for the turn of each path, in the order of their texts. The function that it returns ends them. */
  take(paths: readonly string[]): Promise<() => void>;
}

/** Creates {@link Turns}. On Workers no request may wait for another: there none does. */
export function createTurns(): Turns {
  const inTurn = createRequestMutex();

  function takeOne(path: string): Promise<() => void> {
    return new Promise((resolve) => {
      void inTurn(path, () => new Promise<void>((release) => resolve(release)));
    });
  }

  async function take(paths: readonly string[]): Promise<() => void> {
    const releases: (() => void)[] = [];
    for (const path of [...new Set(paths)].sort()) releases.push(await takeOne(path));
    return () => {
      for (const release of releases) release();
    };
  }

  return { take };
}
