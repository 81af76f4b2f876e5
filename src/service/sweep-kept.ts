import type { Locks } from "../account/locks/locks.ts";
import { unlessLocked } from "../account/locks/unless-locked.ts";
import type { ServiceConfig } from "../config/service-config.ts";
import { toPathSegments } from "../contracts/storage-path.ts";
import { removeExpiredFiles } from "./retention.ts";

const INTERVAL_MS = 3_600_000;

/**
 * Returns a function that removes what is kept for a time: from the trash, the versions, and by the option `retention`.
 * It does so at most once an hour, because it reads all of the names, and resolves with the number of removed files.
 */
export function createKeptSweeper(
  { trash, versions, retention, storage, clock, logger }: ServiceConfig,
  locks: Locks | undefined,
): () => Promise<number> {
  let sweptAt = Number.NEGATIVE_INFINITY;

  async function sweepFiles(): Promise<number> {
    const removed = await removeExpiredFiles(storage, retention, {
      now: clock(),
      removeUnlocked: (path, remove) => unlessLocked(locks, toPathSegments(path), remove),
      onDenied: (error) => logger.error({ error }, "A file whose retention is over could not be removed."),
    });
    if (removed > 0) logger.info({ files: removed }, "Files were removed whose retention was over.");
    return removed;
  }

  return async () => {
    if (Math.abs(clock() - sweptAt) < INTERVAL_MS) return 0;
    sweptAt = clock();
    const kept = ((await trash?.sweep()) ?? 0) + ((await versions?.sweep()) ?? 0);
    return kept + (await sweepFiles());
  };
}
