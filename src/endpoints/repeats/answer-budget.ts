/** Limits the bytes of answers that are kept for each account. */
export interface AnswerBudget {
  /** Counts the bytes of an answer. Returns false, and counts nothing, if they are too many. */
  take(holder: string, bytes: number): boolean;
}

/** Creates a budget of `maxBytes` for each holder, which counts bytes for one to two times `milliseconds`. */
export function createAnswerBudget(maxBytes: number, milliseconds: number, clock: () => number): AnswerBudget {
  // Two generations, in place of the time of each answer.
  let older = new Map<string, number>();
  let newer = new Map<string, number>();
  let since = clock();

  function rotate(): void {
    const passed = clock() - since;
    if (passed >= 0 && passed < milliseconds) return;
    older = passed < 2 * milliseconds ? newer : new Map();
    newer = new Map();
    since = clock();
  }

  return {
    take(holder, bytes) {
      rotate();
      const own = newer.get(holder) ?? 0;
      if (own + (older.get(holder) ?? 0) + bytes > maxBytes) return false;
      newer.set(holder, own + bytes);
      return true;
    },
  };
}
