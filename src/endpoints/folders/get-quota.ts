import { isPrefix, toStoragePath } from "../../account/path.ts";
import type { Quota, QuotaLimit, QuotaUsage } from "../../contracts/quota.ts";
import { toPathSegments } from "../../contracts/storage-path.ts";
import { createError } from "../../http/errors.ts";
import { jsonReply, type Reply } from "../../http/reply.ts";
import type { AccountContext } from "../../request/context.ts";
import type { QuotaResponse } from "../../schemas/quota.ts";

/** What one dimension of a quota shows: bytes, or files. */
interface Shown {
  readonly used: number;
  readonly limit: number | null;
  readonly available: number | null;
}

/** `GET` and `HEAD /home/__svc__/quota`: how much is used, and how much is left. */
export async function getQuota({ account, config, scheme }: AccountContext): Promise<Reply> {
  const { quota } = config;
  if (quota === undefined || scheme === "link") throw createError("not-found");
  const own = account.quota === undefined ? quota.folders : [...quota.folders, account.quota];
  const home = await toEntry(quota, "/", account.home, toLimitsAround(own, account.home));
  const results = [home];
  for (const { virtual, real } of account.virtualFolders) {
    const limits = toLimitsAround(quota.folders, real);
    if (limits.length > 0) results.push(await toEntry(quota, toStoragePath(virtual), real, limits));
  }
  return jsonReply(200, { results } satisfies QuotaResponse);
}

type QuotaEntry = QuotaResponse["results"][number];

/** Returns the limits that hold for a folder, the nearest one first. */
function toLimitsAround(limits: readonly QuotaLimit[], folder: readonly string[]): readonly QuotaLimit[] {
  return limits
    .filter(({ path }) => isPrefix(toPathSegments(path), folder))
    .toSorted((one, other) => other.path.length - one.path.length);
}

async function toEntry(
  quota: Quota,
  path: string,
  folder: readonly string[],
  limits: readonly QuotaLimit[],
): Promise<QuotaEntry> {
  const usages = await Promise.all(
    limits.map(async (limit) => ({ limit, usage: await quota.usage(limit.path) }) satisfies LimitUsage),
  );
  const ofFolder = await quota.usage(toStoragePath(folder));
  const bytes = toShown(usages, ofFolder, ({ bytes, reservedBytes }) => bytes + reservedBytes, "bytes");
  const files = toShown(usages, ofFolder, ({ files, reservedFiles }) => files + reservedFiles, "files");
  return {
    path,
    used_bytes: bytes.used,
    limit_bytes: bytes.limit,
    available_bytes: bytes.available,
    used_files: files.used,
    limit_files: files.limit,
    available_files: files.available,
  };
}

/** A limit, and what is used of it. */
interface LimitUsage {
  readonly limit: QuotaLimit;
  readonly usage: QuotaUsage;
}

/** Shows the nearest limit, and what the strictest one leaves. What is reserved counts as used. */
function toShown(
  usages: readonly LimitUsage[],
  ofFolder: QuotaUsage,
  toUsed: (usage: QuotaUsage) => number,
  kind: "bytes" | "files",
): Shown {
  const limited = usages.flatMap(({ limit, usage }) => {
    const max = limit[kind];
    return max === undefined ? [] : [{ max, used: toUsed(usage) }];
  });
  const [nearest] = limited;
  if (nearest === undefined) return { used: toUsed(ofFolder), limit: null, available: null };
  const left = limited.map(({ max, used }) => Math.max(0, max - used));
  return { used: nearest.used, limit: nearest.max, available: Math.min(...left) };
}
