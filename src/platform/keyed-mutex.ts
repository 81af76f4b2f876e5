/** Lets the pieces of work on one key run one after the other, in the order they came, in this process. */
export type Turns = <T>(key: string, work: () => Promise<T>) => Promise<T>;

/** Makes {@link Turns}. A failed piece of work holds up nobody; keys without work take no memory. */
export function createTurns(): Turns {
  const turns = new Map<string, Promise<unknown>>();

  return function inTurn(key, work) {
    const turn = (turns.get(key) ?? Promise.resolve()).then(work, work);
    const forget = () => {
      if (turns.get(key) === turn) turns.delete(key);
    };
    turns.set(key, turn);
    turn.then(forget, forget);
    return turn;
  };
}
