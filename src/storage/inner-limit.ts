import type { QuotaLimit } from "../contracts/quota.ts";
import { isPrefix, toCanonicalPath, toPathSegments } from "../contracts/storage-path.ts";

/** Options of a call that may have a limit. */
interface LimitedOptions {
  readonly quota?: QuotaLimit;
}

/**
 * Returns the options of a call for the storage that is mounted at a path: its limit has another path there. A limit of
 * more than this storage is left out, because the storage does not know what is around it.
 */
export function toMountedOptions<T extends LimitedOptions>(
  options: T | undefined,
  mountedAt: readonly string[],
): T | undefined {
  if (options?.quota === undefined || mountedAt.length === 0) return options;
  const { quota, ...others } = options;
  const segments = toPathSegments(quota.path);
  if (!isPrefix(mountedAt, segments)) return others as T;
  return { ...options, quota: { ...quota, path: toCanonicalPath(segments.slice(mountedAt.length)) } };
}
