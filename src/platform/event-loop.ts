/** What is asked of a runtime here. */
interface Runtime {
  readonly setImmediate?: (task: () => void) => unknown;
  readonly navigator?: { readonly userAgent?: string };
}

const runtime = globalThis as Runtime;
/** Node's own way needs no timer. */
const soon: (task: () => void) => unknown = runtime.setImmediate ?? setTimeout;
/** In workerd a timer belongs to the request that set it, and goes with it: nobody else may wait for it. */
const isShared = runtime.navigator?.userAgent !== "Cloudflare-Workers" && runtime.setImmediate !== undefined;
const waiting: (() => void)[] = [];

/**
 * Lets whatever else waits have its turn: promises alone would keep going without it. Of all that wait here one goes on in each turn of
 * the event loop, where the runtime has one for all requests, so that a hundred listings keep nobody longer than one does.
 */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    if (!isShared) {
      setTimeout(resolve);
      return;
    }
    waiting.push(resolve);
    if (waiting.length === 1) soon(resumeNext);
  });
}

function resumeNext(): void {
  waiting.shift()?.();
  if (waiting.length > 0) soon(resumeNext);
}
