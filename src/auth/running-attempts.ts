import { type AttemptKey, type AttemptOrigin, createAttemptKeys } from "./attempt-keys.ts";

/** An attempt in progress, under one of its keys. */
export interface StartedAttempt extends AttemptKey {
  /** Whether it is not known to succeed. */
  readonly isGuess: boolean;
  readonly running: RunningOfKey;
  /** The guesses in progress when it came. */
  readonly guessesBefore: number;
}

/** The attempts of a key in progress. */
export interface RunningOfKey {
  attempts: number;
  /** How many of them are guesses. */
  guesses: number;
  /** How many of them have a permit. */
  permits: number;
  /** When one got the latest permit, in milliseconds. */
  permittedAt: number;
  /** Wakes the attempt that waits for a permit. There is one at most: it holds the key's lock. */
  waiter: (() => void) | undefined;
}

/** The login attempts in progress in this process, by the keys that they are counted under. */
export interface RunningAttempts {
  /**
   * Starts an attempt under its keys, and returns them in the order in which it has to acquire their permits. An
   * attack: the permit of the network comes first, that of the user name last. A client that has used up its network,
   * or runs many attempts, waits there. If it waited with a permit of the user name, it would block other clients that
   * log in with that name.
   */
  start(origin: AttemptOrigin, isGuess: boolean): readonly StartedAttempt[];
  /** Ends an attempt under all its keys. */
  end(all: readonly StartedAttempt[]): void;
}

/** Creates the attempts in progress of a service. */
export function createRunningAttempts(): RunningAttempts {
  const byKey = new Map<string, RunningOfKey>();
  const keysOf = createAttemptKeys();

  function startUnder({ kind, key }: AttemptKey, isGuess: boolean): StartedAttempt {
    const running = byKey.get(key) ?? { attempts: 0, guesses: 0, permits: 0, permittedAt: 0, waiter: undefined };
    byKey.set(key, running);
    const guessesBefore = running.guesses;
    running.attempts += 1;
    if (isGuess) running.guesses += 1;
    return { kind, key, isGuess, running, guessesBefore };
  }

  function end(all: readonly StartedAttempt[]): void {
    for (const { key, isGuess, running } of all) {
      running.attempts -= 1;
      if (isGuess) running.guesses -= 1;
      if (running.attempts === 0) byKey.delete(key);
    }
  }

  return { start: (origin, isGuess) => keysOf(origin).map((key) => startUnder(key, isGuess)), end };
}
