/** A state outside of React, as `useSyncExternalStore` reads it. */
export interface ReadonlyStore<State> {
  /** Calls `listener` after each change, until the returned function is called. */
  readonly subscribe: (listener: () => void) => () => void;
  /** The same object until the next change. */
  readonly getState: () => State;
}

/** A store whose owner changes its state. */
export interface Store<State> extends ReadonlyStore<State> {
  readonly setState: (state: State) => void;
}

export function createStore<State>(initial: State): Store<State> {
  const listeners = new Set<() => void>();
  let state = initial;
  return {
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    getState: () => state,
    setState(next) {
      state = next;
      for (const listener of listeners) listener();
    },
  };
}

/** Calls a function once for many changes. */
export interface Throttle {
  readonly callNow: () => void;
  /** Calls the function soon, once for all changes until then. */
  readonly callSoon: () => void;
  /** Takes back a call that is due. */
  readonly cancel: () => void;
}

/** The time between two renderings: users do not see more of them. */
const THROTTLE_MILLISECONDS = 50;

export function createThrottle(call: () => void): Throttle {
  let timer: ReturnType<typeof setTimeout> | undefined;

  function cancel(): void {
    clearTimeout(timer);
    timer = undefined;
  }

  function callNow(): void {
    cancel();
    call();
  }

  return {
    callNow,
    callSoon() {
      timer ??= setTimeout(callNow, THROTTLE_MILLISECONDS);
    },
    cancel,
  };
}
