/** A time limit that can be set again. */
export interface Deadline {
  /** Sets the limit, from now. */
  start(milliseconds: number): void;
  pause(): void;
  /** Ends it: later calls do nothing. */
  close(): void;
}

/** Creates a deadline that calls a function when it is reached. */
export function createDeadline(onReached: () => void): Deadline {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isClosed = false;

  function start(milliseconds: number): void {
    pause();
    if (!isClosed) timer = setTimeout(onReached, milliseconds);
  }

  function pause(): void {
    clearTimeout(timer);
  }

  function close(): void {
    isClosed = true;
    pause();
  }

  return { start, pause, close };
}
