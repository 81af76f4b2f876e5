import { handOn } from "../contracts/handed-on.ts";
import type { Versions, VersionsFailure } from "../contracts/kept/versions.ts";
import { checkNames, checkOption, isWholeNumber } from "../contracts/option-error.ts";
import type { StorageAdapter } from "../contracts/storage-adapter.ts";
import { createBoundedMap } from "../platform/bounded-map.ts";
import { hideArea, openArea } from "./area.ts";
import { createVersionsCopy, createVersionsMove, createVersionsRemove } from "./versions/copy-move-remove.ts";
import { createVersions } from "./versions/create-versions.ts";
import type { VersionInternals } from "./versions/internals.ts";
import { createVersionsUploads, createVersionsWrite } from "./versions/writes.ts";
import { noteDryRun } from "./wrappers/dry-runs.ts";
import { createPathMutex } from "./wrappers/path-mutex.ts";
import { createReportListeners } from "./wrappers/report-listeners.ts";

export type { FileVersion, VersionRestoreOptions, Versions, VersionsFailure } from "../contracts/kept/versions.ts";

/** Options of {@link createVersionsStorage}. */
export interface VersionsOptions {
  /** How many versions each file has at most, from 1 to 10000. The oldest go first. Default: 10. */
  readonly keep?: number;
  /** How long a version is kept, in seconds. 0: for any time. Default: 0. */
  readonly keepSeconds?: number;
  /** Larger files have no versions, in bytes. 0: any size. Default: 0. */
  readonly maxFileBytes?: number;
  /** The time in POSIX milliseconds. Default: `Date.now`. */
  readonly clock?: () => number;
}

/** A storage with versions. */
export type VersionsStorage = StorageAdapter & { readonly versions: Versions };

const NAMES = ["keep", "keepSeconds", "maxFileBytes", "clock"];
const MAX_KEEP = 10_000;
/** How many IDs of versions this process remembers, so that a write need not list those of its file. */
const MAX_KNOWN = 100_000;

/**
 * Wraps a storage so that what a file had before can be restored. When a write, a copy, a move or an upload replaces a
 * file, its content is kept as a version in a hidden folder of the same storage: on a disk by a hard link, in S3 by a
 * copy of the server. Content that is equal to the new one is not kept.
 *
 * Versions go along with a file or folder that is moved, also to the trash of a wrapper around this one, and back.
 * Without a trash they are removed with it.
 *
 * Around a storage with quotas, versions count where the file is.
 * @throws OptionError
 */
export function createVersionsStorage(storage: StorageAdapter, options: VersionsOptions = {}): VersionsStorage {
  checkOptions(options);
  const { keep = 10, keepSeconds = 0, maxFileBytes = 0, clock = Date.now } = options;
  const inner = openArea(storage);
  const { watch, report } = createReportListeners<VersionsFailure>();
  const internals: VersionInternals = {
    storage: inner,
    clock,
    keep,
    keepMilliseconds: keepSeconds === 0 ? Number.POSITIVE_INFINITY : 1000 * keepSeconds,
    maxFileBytes: maxFileBytes === 0 ? Number.POSITIVE_INFINITY : maxFileBytes,
    mutex: createPathMutex(),
    known: createBoundedMap(Math.ceil(MAX_KNOWN / keep)),
    report,
  };
  const { uploads } = inner;
  const write = createVersionsWrite(internals);
  const covered = hideArea({
    ...handOn(inner),
    write,
    copy: createVersionsCopy(internals),
    move: createVersionsMove(internals),
    remove: createVersionsRemove(internals),
    ...(uploads && { uploads: createVersionsUploads(internals, uploads) }),
  });
  const versions = createVersions(internals, write, watch);
  const versioned = Object.assign(covered, { versions });
  noteDryRun(versioned, (dry) => createVersionsStorage(dry.storage(storage), options));
  noteDryRun(versions, (dry) => (dry.storage(versioned) as VersionsStorage).versions);
  return versioned;
}

function checkOptions(options: VersionsOptions): void {
  checkNames(options, NAMES, "");
  const { keep = 1, keepSeconds = 0, maxFileBytes = 0 } = options;
  checkOption(isWholeNumber(keep, 1, MAX_KEEP), "keep", "a whole number from 1 to 10000");
  checkOption(isWholeNumber(keepSeconds, 0), "keepSeconds", "a whole number, 0 or more");
  checkOption(isWholeNumber(maxFileBytes, 0), "maxFileBytes", "a whole number, 0 or more");
}
