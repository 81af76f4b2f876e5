import { handOn, handOnUploads } from "../contracts/handed-on.ts";
import type { Trash } from "../contracts/kept/trash.ts";
import { checkNames, checkOption, isWholeNumber } from "../contracts/option-error.ts";
import type { StorageAdapter } from "../contracts/storage-adapter.ts";
import { createRequestMutex } from "../platform/keyed-mutex.ts";
import { hideArea, openArea } from "./area.ts";
import { createTrash } from "./trash/create-trash.ts";
import { createTrashCopyOrMove, createTrashRemove, createTrashUploads, createTrashWrite } from "./trash/verbs.ts";
import { noteDryRun } from "./wrappers/dry-runs.ts";

export type { RestoreOptions, Trash, TrashEntry, TrashMember, TrashPurge } from "../contracts/kept/trash.ts";

/** Options of {@link createTrashStorage}. */
export interface TrashOptions {
  /** How long an entry is kept, in seconds. 0: for any time. Default: 2592000, which is 30 days. */
  readonly keepSeconds?: number;
  /**
   * How much the trash may have, in bytes. If it has more, the oldest entries are removed for good until a tenth is
   * free. What is larger goes alone. 0: any amount. Default: 0.
   */
  readonly maxBytes?: number;
  /**
   * If a quota has no room for a file: whether the oldest entries from the same home are removed for good, as far as
   * that makes enough room. `WriteOptions.quota` names the home. Default: true.
   */
  readonly makeRoom?: boolean;
  /** The time in POSIX milliseconds. Default: `Date.now`. */
  readonly clock?: () => number;
}

/** A storage with a trash. */
export type TrashStorage = StorageAdapter & { readonly trash: Trash };

const NAMES = ["keepSeconds", "maxBytes", "makeRoom", "clock"];

/**
 * Wraps a storage so that what is removed can be restored for some time. `remove` moves a file or folder to a hidden
 * folder of the same storage, in one step if the storage can do that. A folder that a copy or a move replaces goes
 * there, too. A file that is replaced does not.
 *
 * Symlinks, and empty files that systems leave in folders (`.DS_Store`, `._*`), are removed for good.
 *
 * Around a storage with quotas, what is in the trash still counts where it came from.
 * @throws OptionError
 */
export function createTrashStorage(storage: StorageAdapter, options: TrashOptions = {}): TrashStorage {
  checkOptions(options);
  const { keepSeconds = 2_592_000, maxBytes = 0, makeRoom = true, clock = Date.now } = options;
  const inner = openArea(storage);
  const { trash, internals, onAdded } = createTrash({
    storage: inner,
    clock,
    keepMilliseconds: keepSeconds === 0 ? Number.POSITIVE_INFINITY : 1000 * keepSeconds,
    maxBytes,
    withLock: createRequestMutex(),
  });
  const verbs = { internals, makeRoom, onAdded };
  const { uploads } = inner;
  const covered = hideArea({
    ...handOn(inner),
    remove: createTrashRemove(verbs),
    copy: createTrashCopyOrMove(verbs, "copy"),
    move: createTrashCopyOrMove(verbs, "move"),
    ...(makeRoom && { write: createTrashWrite(internals) }),
    ...(uploads && makeRoom && { uploads: { ...handOnUploads(uploads), ...createTrashUploads(internals, uploads) } }),
  });
  const trashed = Object.assign(covered, { trash });
  // Entries that go because of `maxBytes` would be looked for in the whole trash, for each dry run.
  noteDryRun(trashed, (dry) => createTrashStorage(dry.storage(storage), { ...options, maxBytes: 0 }));
  noteDryRun(trash, (dry) => (dry.storage(trashed) as TrashStorage).trash);
  return trashed;
}

function checkOptions(options: TrashOptions): void {
  checkNames(options, NAMES, "");
  const { keepSeconds = 0, maxBytes = 0, makeRoom = true } = options;
  checkOption(isWholeNumber(keepSeconds, 0), "keepSeconds", "a whole number, 0 or more");
  checkOption(isWholeNumber(maxBytes, 0), "maxBytes", "a whole number, 0 or more");
  checkOption(typeof makeRoom === "boolean", "makeRoom", "true or false");
}
