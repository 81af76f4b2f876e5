import { type AtomicKeyValueStore, checkAtomicStore } from "../contracts/atomic-store.ts";
import { handOn } from "../contracts/handed-on.ts";
import { checkNames, checkOption, isWholeNumber } from "../contracts/option-error.ts";
import type { Quota, QuotaLimit } from "../contracts/quota.ts";
import type { StorageAdapter } from "../contracts/storage-adapter.ts";
import { toPathSegments } from "../contracts/storage-path.ts";
import { runSweeps } from "../platform/run-sweeps.ts";
import { hideArea, openArea } from "./area.ts";
import { createAdmissions } from "./quota/admission.ts";
import { createCopyOrMove, createRemove } from "./quota/copy-move-remove.ts";
import { type CountedUploads, createCountedUploads } from "./quota/counted-uploads.ts";
import { createCounts } from "./quota/counts.ts";
import { type CountRecords, createDryRecords, createOwnRecords, createSharedRecords } from "./quota/records.ts";
import { createQuotaUploads } from "./quota/uploads.ts";
import { createWalks } from "./quota/walks.ts";
import { createWrite } from "./quota/writes.ts";
import { noteDryRun } from "./wrappers/dry-runs.ts";
import { createPathMutex } from "./wrappers/path-mutex.ts";

export type { Quota, QuotaLimit } from "../contracts/quota.ts";

/** Options of {@link createQuotaStorage}. */
export interface QuotaOptions {
  /**
   * Where the counts are. Processes with the same storage need the same store. Default: the memory of this process,
   * where each folder is counted by a walk when it is first asked for.
   */
  readonly store?: AtomicKeyValueStore;
  /** Limits of folders of the storage, for every caller. Default: none; callers bring their own (`WriteOptions`). */
  readonly folders?: readonly QuotaLimit[];
  /**
   * How old a count may be, in seconds. Then a walk corrects it, because other programs may have changed the storage.
   * 0: never, unless something was lost. Default: 86400.
   */
  readonly recountSeconds?: number;
  /** How many bytes are reserved at a time for content without a length. Default: 8 MiB. */
  readonly stepBytes?: number;
  /** The time in POSIX milliseconds. Default: `Date.now`. */
  readonly clock?: () => number;
}

/** A storage with quotas. */
export type QuotaStorage = StorageAdapter & { readonly quota: Quota };

const NAMES = ["store", "folders", "recountSeconds", "stepBytes", "clock"];

/**
 * Wraps a storage so that what is stored stays within limits: the sum of the sizes of the files in a folder and all
 * below it, and their number. What would exceed a limit is `no-space`, and changes nothing.
 *
 * Room for a file is reserved before its first byte is taken, so concurrent writers never exceed a limit together. What
 * is in a folder already is counted by a walk, once. What the trash and the versions of wrappers around this one keep
 * counts where it came from.
 * @throws OptionError
 */
export function createQuotaStorage(storage: StorageAdapter, options: QuotaOptions = {}): QuotaStorage {
  checkOptions(options);
  const { store, clock = Date.now } = options;
  const records = store === undefined ? createOwnRecords(clock) : createSharedRecords(store, clock);
  return createCountedStorage(storage, options, records, createCountedUploads(openArea(storage).uploads));
}

function createCountedStorage(
  storage: StorageAdapter,
  options: QuotaOptions,
  records: CountRecords,
  countedUploads: CountedUploads,
): QuotaStorage {
  const { folders = [], recountSeconds = 86_400, stepBytes = 8 * 1024 ** 2, clock = Date.now } = options;
  const inner = openArea(storage);
  const walks = createWalks(inner);
  const counts = createCounts({
    records,
    walks,
    sumUploads: countedUploads.sum,
    recountSeconds,
    clock,
  });
  const admissions = createAdmissions(counts, folders, clock);
  const internals = { storage: inner, admissions, counts, mutex: createPathMutex(), walks, stepBytes };

  const sweep: Quota["sweep"] = ({ signal } = {}) =>
    runSweeps(
      [
        ...folders.map(
          ({ path }) =>
            async () =>
              Number(await counts.recountIfDue(path, signal)),
        ),
        counts.recountLost,
      ],
      signal,
    );
  const quota: Quota = { folders, usage: counts.usage, recount: counts.recount, sweep };
  const { uploads } = inner;
  const counted = hideArea({
    ...handOn(inner),
    write: createWrite(internals),
    remove: createRemove(internals),
    copy: createCopyOrMove(internals, "copy"),
    move: createCopyOrMove(internals, "move"),
    ...(uploads && { uploads: createQuotaUploads(internals, uploads, countedUploads) }),
  });
  noteDryRun(counted, (dry) => {
    // A walk whose only reason is time would be for this dry run alone.
    const dryOptions = { ...options, recountSeconds: 0 };
    return createCountedStorage(dry.storage(storage), dryOptions, createDryRecords(records), countedUploads);
  });
  return Object.assign(counted, { quota });
}

function checkOptions(options: QuotaOptions): void {
  checkNames(options, NAMES, "");
  const { store, folders = [], recountSeconds = 0, stepBytes = 1 } = options;
  checkAtomicStore(store, "store");
  for (const [index, limit] of folders.entries()) {
    checkNames(limit, ["path", "bytes", "files"], `folders[${index}].`);
    checkOption(isCanonical(limit.path), `folders[${index}].path`, "a canonical path, such as /shared");
    for (const name of ["bytes", "files"] as const) {
      checkOption(isWholeNumber(limit[name] ?? 0, 0), `folders[${index}].${name}`, "a whole number, 0 or more");
    }
  }
  checkOption(isWholeNumber(recountSeconds, 0), "recountSeconds", "a whole number, 0 or more");
  checkOption(isWholeNumber(stepBytes, 1), "stepBytes", "a whole number, 1 or more");
}

function isCanonical(path: unknown): boolean {
  try {
    return typeof path === "string" && Array.isArray(toPathSegments(path));
  } catch {
    return false;
  }
}
