import type { Quota, QuotaLimit, QuotaUsage } from "../../contracts/quota.ts";
import type { ContentLocation } from "../../contracts/storage-adapter.ts";
import { isWithinFolder } from "../../contracts/storage-path.ts";
import { wait } from "../../platform/wait.ts";
import type { AccountContext } from "../../request/context.ts";

/** What is used of a folder, and what its limits leave. */
export interface FolderUsage {
  readonly bytes: ShownUsage;
  readonly files: ShownUsage;
}

/** What one dimension of a quota shows: bytes, or files. */
export interface ShownUsage {
  readonly used: number;
  readonly limit: number | null;
  readonly available: number | null;
}

/** Returns the limits that hold for an account in a folder of the storage, the nearest one first. */
export function toLimitsAround(
  { account, config }: Pick<AccountContext, "account" | "config">,
  folder: string,
): readonly QuotaLimit[] {
  const folders = config.quota?.folders ?? [];
  return [...folders, account.quota]
    .filter(({ path, bytes, files }) => isWithinFolder(folder, path) && (bytes ?? files) !== undefined)
    .toSorted((one, other) => other.path.length - one.path.length);
}

/**
 * Returns what is used of a folder of the storage, and what some limits around it leave. `place`: where the folder is.
 * Less is available if there is less room.
 */
export async function findUsage(
  quota: Quota,
  folder: string,
  limits: readonly QuotaLimit[],
  place?: ContentLocation,
): Promise<FolderUsage> {
  const own = await quota.usage(folder);
  const usages = await Promise.all(limits.map(async (limit) => ({ limit, usage: await quota.usage(limit.path) })));
  const free = await place?.freeBytes?.();
  return {
    bytes: toShown(own, usages, ["bytes", "reservedBytes"], free),
    files: toShown(own, usages, ["files", "reservedFiles"]),
  };
}

/** Returns what is used of the nearest folder with a limit around a folder; `undefined` without one. */
export async function findNearestUsage(
  context: AccountContext,
  folder: readonly string[],
): Promise<FolderUsage | undefined> {
  const { config, files } = context;
  const limits = toLimitsAround(context, files.realPathOf(folder));
  const [nearest] = limits;
  if (config.quota === undefined || nearest === undefined) return undefined;
  return findUsage(config.quota, nearest.path, limits, await files.locateContent(folder));
}

/** Returns what is found in time; `undefined` if it takes longer, or fails. Pages and listings do without it. */
export async function findInTime<T>(found: Promise<T>, milliseconds: number): Promise<T | undefined> {
  const ending = new AbortController();
  const late = wait(milliseconds, ending.signal).then(() => undefined);
  const usage = await Promise.race([found, late]).catch(() => undefined);
  ending.abort();
  late.catch(() => undefined);
  return usage;
}

/** A limit, and what is used of it. */
interface LimitUsage {
  readonly limit: QuotaLimit;
  readonly usage: QuotaUsage;
}

/** Shows the nearest limit, and what the strictest one leaves. What is reserved counts as used. */
function toShown(
  own: QuotaUsage,
  usages: readonly LimitUsage[],
  [kind, reserved]: readonly ["bytes", "reservedBytes"] | readonly ["files", "reservedFiles"],
  free = Number.POSITIVE_INFINITY,
): ShownUsage {
  const toUsed = (usage: QuotaUsage): number => usage[kind] + usage[reserved];
  const limited = usages.flatMap(({ limit, usage }) => {
    const max = limit[kind];
    return max === undefined ? [] : [{ max, left: Math.max(0, max - toUsed(usage)) }];
  });
  const used = toUsed(own);
  const [nearest] = limited;
  if (nearest === undefined) return { used, limit: null, available: null };
  return { used, limit: nearest.max, available: Math.min(free, ...limited.map(({ left }) => left)) };
}
