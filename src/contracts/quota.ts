import type { SweepOptions } from "./kept/sweep-options.ts";
import { StorageError } from "./storage-error.ts";

/** How much may be in a folder of a storage, and in all folders below it. */
export interface QuotaLimit {
  /** The canonical path of the folder in the storage. */
  readonly path: string;
  /** The sum of the sizes of the files. Default: no limit. */
  readonly bytes?: number;
  /** The number of files. Default: no limit. */
  readonly files?: number;
}

/** What is in a folder and below it. What is reserved belongs to uploads that are still running. */
export interface QuotaUsage {
  readonly bytes: number;
  readonly files: number;
  readonly reservedBytes: number;
  readonly reservedFiles: number;
}

/** The counts of a storage with quotas. */
export interface Quota {
  /** The limits of folders that hold for every caller. */
  readonly folders: readonly QuotaLimit[];
  /** Returns what is in a folder. The first call for a folder counts by a walk. */
  usage(path: string): Promise<QuotaUsage>;
  /**
   * Counts a folder by a walk. If too much changes during the walk, or another process has counted the folder
   * meanwhile, the walk changes nothing.
   */
  recount(path: string): Promise<QuotaUsage>;
  /**
   * Recounts the folders of {@link Quota.folders} that are due, and all that this process has been asked about in which
   * something was lost, such as what a process had reserved that has ended. Returns how many it has recounted.
   */
  sweep(options?: SweepOptions): Promise<number>;
}

/** What is missing below a limit. */
export interface QuotaShortage {
  /** The folder of the limit. */
  readonly path: string;
  readonly bytes: number;
  readonly files: number;
}

const shortages = new WeakMap<object, QuotaShortage>();

/** Makes the `no-space` of a used-up quota, which {@link isQuotaError} recognizes. */
export function createQuotaError(shortage: QuotaShortage): StorageError {
  const error = new StorageError("no-space", `The quota of ${shortage.path} is used up.`);
  shortages.set(error, shortage);
  return error;
}

/** Whether a `no-space` comes from a quota. Otherwise it comes from the storage itself. */
export function isQuotaError(error: unknown): boolean {
  return quotaShortageOf(error) !== undefined;
}

/** Returns what was missing, if an error comes from a quota. */
export function quotaShortageOf(error: unknown): QuotaShortage | undefined {
  return error instanceof StorageError ? shortages.get(error) : undefined;
}
