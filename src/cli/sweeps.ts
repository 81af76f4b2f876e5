import type { FileService } from "../contracts/file-service.ts";
import type { Logger } from "../contracts/logger.ts";

const INTERVAL_MS = 600_000;

/**
 * Ends what has expired in a service, now and every ten minutes. A failure is logged: the next time may succeed.
 * Returns a function that ends the repetition and aborts running sweeps. It resolves when they have ended.
 */
export function sweepRegularly(
  { sweep }: Pick<FileService, "sweep">,
  {
    logger = console,
    interval = INTERVAL_MS,
  }: { readonly logger?: Logger | undefined; readonly interval?: number } = {},
): () => Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const running = new Set<Promise<void>>();

  function sweepNow(): void {
    const sweeping: Promise<void> = sweep({ signal })
      .catch((error: unknown) => {
        if (!signal.aborted) logger.error({ error }, "What has expired could not be removed.");
      })
      .then(() => void running.delete(sweeping));
    running.add(sweeping);
  }

  sweepNow();
  const timer = setInterval(sweepNow, interval);
  timer.unref();
  return async () => {
    clearInterval(timer);
    stopping.abort();
    await Promise.all(running);
  };
}
