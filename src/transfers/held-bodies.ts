import type { BodyLimits } from "../http/request-body.ts";
import type { LimitedContext } from "../request/context.ts";
import type { FormPermits } from "../uploads/form-files.ts";
import { tooManyTransfers } from "./too-many-transfers.ts";

type Permits = Pick<LimitedContext, "transferPermit" | "bodyPermit">;

/** How many bytes of a body in memory count as one transfer. No other transfer holds more. */
const BYTES_PER_PERMIT = 64 * 1024;

/**
 * Counts what a form holds among the transfers: one for each file that waits, and one for each 64 KiB after the first
 * ones. Its request is a transfer already. The functions throw HttpError `too-many-transfers`.
 */
export function createFormPermits(permits: Permits): FormPermits {
  let files = 1;
  let bytes = 0;

  const acquire = (): void => acquirePermits(permits, files + Math.floor(bytes / BYTES_PER_PERMIT), bytes);

  return {
    holdFiles(count) {
      files = count;
      acquire();
    },
    holdBytes(count) {
      bytes += count;
      if (bytes > BYTES_PER_PERMIT) acquire();
    },
  };
}

/**
 * Counts a large body among the transfers, because it is held in memory until its response: one for each 64 KiB that
 * have arrived. The functions throw HttpError `too-many-transfers`.
 */
export function countBody(permits: Permits): Pick<BodyLimits, "onAnnounced" | "onLarge"> {
  const onLarge = (bytes: number): void => acquirePermits(permits, toUnits(bytes), bytes);

  /** Acquires no permits for announced bytes: otherwise idle clients could take all of them. */
  function onAnnounced(bytes: number): void {
    if (!permits.transferPermit.canAcquire(toUnits(bytes))) onLarge(bytes);
  }

  return { onAnnounced, onLarge };
}

function acquirePermits({ transferPermit, bodyPermit }: Permits, transfers: number, bytes: number): void {
  const isAllowed = transferPermit.acquire(transfers) && (bytes <= BYTES_PER_PERMIT || bodyPermit.acquire(bytes));
  if (!isAllowed) throw tooManyTransfers();
}

function toUnits(bytes: number): number {
  return Math.ceil(bytes / BYTES_PER_PERMIT);
}
