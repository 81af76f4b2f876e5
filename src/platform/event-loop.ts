/** The parts of a runtime that are used here. */
interface Runtime {
  readonly setImmediate?: (task: () => void) => unknown;
  readonly navigator?: { readonly userAgent?: string };
}

const runtime = globalThis as Runtime;
/** Runs a task in the next iteration of the event loop. Node's `setImmediate` needs no timer. */
export const soon: (task: () => void) => unknown = runtime.setImmediate ?? setTimeout;
/**
 * Whether all requests may share a timer and resume each other. In workerd a timer belongs to the request that set it,
 * and ends with it.
 */
export const isLoopShared = runtime.navigator?.userAgent !== "Cloudflare-Workers" && runtime.setImmediate !== undefined;
const waiting: (() => void)[] = [];

/**
 * Lets the event loop run; promises alone would not. If the runtime has one loop for all requests, only one of the
 * callers continues in each iteration, so that a hundred listings delay other requests no longer than one does.
 */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    if (!isLoopShared) {
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
