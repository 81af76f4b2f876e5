import type { UpdateStoredText } from "../../contracts/atomic-store.ts";

/** Counts the wrong one-time passwords of accounts, by key. Rejects as the store does. */
export interface WrongGuesses {
  /**
   * Counts a guess as wrong before it is checked, so that no more are checked at the same moment than may be wrong.
   * Returns false, and counts nothing, if there were as many as may be.
   */
  add(key: string): Promise<boolean>;
  /** Takes back a guess that was not wrong. */
  takeBack(key: string): Promise<void>;
}

/** Options of {@link createWrongGuesses}. */
export interface WrongGuessesOptions {
  readonly update: UpdateStoredText;
  /** How many guesses may be wrong within the window. */
  readonly most: number;
  /** How long a guess counts, in milliseconds. */
  readonly window: number;
  /** Returns milliseconds since the epoch. */
  readonly clock: () => number;
}

/** Creates the count of wrong guesses in a store, as the times of the guesses in milliseconds: `1796000000000,…`. */
export function createWrongGuesses({ update, most, window, clock }: WrongGuessesOptions): WrongGuesses {
  const toTtl = (): number => window;

  function toRecent(stored = ""): readonly number[] {
    const since = clock() - window;
    return stored
      .split(",")
      .map(Number)
      .filter((time) => time > since);
  }

  async function add(key: string): Promise<boolean> {
    let isAdded = false;
    await update(key, toTtl, (current) => {
      const times = toRecent(current);
      isAdded = times.length < most;
      return isAdded ? [...times, clock()].join(",") : current;
    });
    return isAdded;
  }

  async function takeBack(key: string): Promise<void> {
    await update(key, toTtl, (current) => {
      return toRecent(current).slice(0, -1).join(",") || undefined;
    });
  }

  return { add, takeBack };
}
