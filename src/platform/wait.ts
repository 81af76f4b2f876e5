/** Waits. Rejects with the signal's reason if that aborts. */
export function wait(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, milliseconds);
    if (signal?.aborted) abort();
    else signal?.addEventListener("abort", abort, { once: true });
  });
}

const POLL_MS = 20;
/** 5 seconds. */
const MAX_POLLS = 250;

/**
 * Waits until something is true, by timers of the caller's own request. Workers need it: workerd cancels a request that
 * waits for a promise that another one resolves. Returns false if it takes more than some seconds, as it does if the
 * runtime has ended the other request before its time.
 */
export async function poll(isTrue: () => boolean): Promise<boolean> {
  for (let polls = 0; polls < MAX_POLLS; polls += 1) {
    if (isTrue()) return true;
    await wait(POLL_MS);
  }
  return isTrue();
}
