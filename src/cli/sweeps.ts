import type { FileService } from "../contracts/file-service.ts";
import type { Logger } from "../contracts/logger.ts";

const INTERVAL_MS = 600_000;

/**
 * Ends what has expired in a service, now and every ten minutes. A failure is logged: the next time may succeed.
 * Returns a function that ends the repetition.
 */
export function sweepRegularly(
  { sweep }: Pick<FileService, "sweep">,
  {
    logger = console,
    interval = INTERVAL_MS,
  }: { readonly logger?: Logger | undefined; readonly interval?: number } = {},
): () => void {
  function sweepNow(): void {
    sweep().catch((error: unknown) => logger.error({ error }, "What has expired could not be removed."));
  }

  sweepNow();
  const timer = setInterval(sweepNow, interval);
  timer.unref();
  return () => clearInterval(timer);
}
