import type { AccountContext } from "../../request/context.ts";
import type { PageQuota, QuotaShare } from "../../views/quota-meter.ts";
import { findInTime, findNearestUsage, type ShownUsage } from "./quota-usage.ts";

/** A page does not wait longer for a count, in milliseconds: the first count of a large folder takes a while. */
const PATIENCE_MS = 500;

/**
 * What a folder page shows of the quota around the folder. It shows nothing without a limit, below a link, and if the
 * count is not known in time.
 */
export async function findPageQuota(context: AccountContext): Promise<PageQuota | undefined> {
  const { scheme, config, path } = context;
  if (scheme === "link" || config.quota === undefined) return undefined;
  const usage = await findInTime(findNearestUsage(context, path.segments), PATIENCE_MS);
  return usage && { bytes: toShare(usage.bytes), files: toShare(usage.files) };
}

function toShare({ used, limit, available }: ShownUsage): QuotaShare | undefined {
  return limit === null || available === null ? undefined : { used, limit, available };
}
