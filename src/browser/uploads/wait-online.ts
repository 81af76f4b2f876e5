/**
 * Waits. While the browser is offline it waits for the connection instead, and a signal ends it early. Returns whether
 * the browser was offline.
 */
export function waitOnline(milliseconds: number, signal: AbortSignal): Promise<boolean> {
  const wasOffline = !navigator.onLine;
  return new Promise((resolve) => {
    function end(): void {
      clearTimeout(timer);
      removeEventListener("online", end);
      signal.removeEventListener("abort", end);
      resolve(wasOffline);
    }
    const timer = wasOffline ? undefined : setTimeout(end, milliseconds);
    addEventListener("online", end);
    signal.addEventListener("abort", end);
  });
}
