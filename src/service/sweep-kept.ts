import type { Locks } from "../account/locks/locks.ts";
import { unlessLocked } from "../account/locks/unless-locked.ts";
import type { ServiceConfig } from "../config/service-config.ts";
import { toPathSegments } from "../contracts/storage-path.ts";
import type { Sweep } from "../platform/run-sweeps.ts";
import { removeExpiredFiles } from "./retention.ts";

const INTERVAL_MS = 3_600_000;

/**
 * Returns functions that remove what is kept for a time: from the trash, the versions, and by the option `retention`.
 * Each does so at most once an hour, because it reads all of the names; after a failure again with the next call. It
 * resolves with the number of removed files.
 */
export function createKeptSweeps(
  { trash, versions, retention, storage, clock, logger }: ServiceConfig,
  locks: Locks | undefined,
): readonly Sweep[] {
  function hourly(sweep: Sweep): Sweep {
    let sweptAt = Number.NEGATIVE_INFINITY;
    return async (signal) => {
      if (Math.abs(clock() - sweptAt) < INTERVAL_MS) return 0;
      // Before the sweep: it may take longer than the time to the next call.
      sweptAt = clock();
      return sweep(signal).catch((error: unknown) => {
        sweptAt = Number.NEGATIVE_INFINITY;
        throw error;
      });
    };
  }

  async function sweepFiles(signal?: AbortSignal): Promise<number> {
    const removed = await removeExpiredFiles(storage, retention, {
      now: clock(),
      signal,
      removeUnlocked: (path, remove) => unlessLocked(locks, toPathSegments(path), remove),
      onDenied: (error, path) => logger.error({ error, path }, "Retention left a path out."),
    });
    if (removed > 0) logger.info({ files: removed }, "Files were removed whose retention was over.");
    return removed;
  }

  return [
    async (signal?: AbortSignal) => trash?.sweep({ signal }),
    async (signal?: AbortSignal) => versions?.sweep({ signal }),
    sweepFiles,
  ].map(hourly);
}
