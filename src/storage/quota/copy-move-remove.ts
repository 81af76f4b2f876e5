import { toStrongTag } from "../../contracts/entity-tags.ts";
import {
  hasCode,
  type Placement,
  type RemoveOptions,
  type StorageAdapter,
  type StorageEntry,
  StorageError,
  type StorageErrorCode,
  type TransferOptions,
} from "../../contracts/storage-adapter.ts";
import { createCopiedVersions } from "../copied-versions.ts";
import type { Reservation } from "./admission.ts";
import { type Amount, NOTHING, subtract, toMissing } from "./amount.ts";
import { countsIn } from "./counted-path.ts";
import { measure } from "./measure.ts";
import type { Settlement } from "./settlement.ts";
import type { QuotaInternals } from "./writes.ts";

/** After these a storage has changed nothing. */
const REFUSALS: readonly StorageErrorCode[] = [
  "not-found",
  "already-exists",
  "parent-missing",
  "not-a-folder",
  "not-a-file",
  "precondition-failed",
  "bad-name",
  "denied",
];

/** Creates `remove` of a storage with quotas. */
export function createRemove(internals: QuotaInternals): StorageAdapter["remove"] {
  const { storage, admissions, mutex, walks } = internals;

  return async (path: string, options?: RemoveOptions): Promise<void> => {
    const unlock = await mutex.lock([], [path]);
    let endChange: () => void = () => undefined;
    try {
      const folders = await admissions.countedAround([path]);
      const isMeasured = folders.length > 0;
      const entry = isMeasured ? await storage.stat(path) : undefined;
      const amount = await measure(storage, path, entry);
      endChange = walks.announce([path]);
      await asChange(internals, folders, () => storage.remove(path, options));
      const parts = [{ path, amount: subtract(NOTHING, amount) }];
      const losesUploads = entry?.kind === "folder";
      await settle(internals, admissions.open([]), [path], { parts, losesUploads }, isMeasured);
    } finally {
      endChange();
      unlock();
    }
  };
}

/** What is known of a copy or a move before it is made. */
interface Measured {
  /** Whether anything of it counts anywhere. */
  readonly isMeasured: boolean;
  readonly isFolder: boolean;
  readonly replacesFolder: boolean;
  /** What comes to the new path. Nothing if it is a folder that moves within all folders that count it. */
  readonly size: Amount;
  readonly replaced: Amount;
}

const UNMEASURED: Measured = {
  isMeasured: false,
  isFolder: false,
  replacesFolder: false,
  size: NOTHING,
  replaced: NOTHING,
};

/** Creates `copy` and `move` of a storage with quotas. */
export function createCopyOrMove(internals: QuotaInternals, verb: "copy" | "move"): StorageAdapter["copy"] {
  const { storage, admissions, mutex, walks } = internals;
  const isMove = verb === "move";

  async function measureBefore(
    from: string,
    to: string,
    { replace, signal }: TransferOptions,
    folders: readonly string[],
  ): Promise<Measured> {
    if (folders.length === 0) return UNMEASURED;
    const source = await storage.stat(from);
    const isFolder = source?.kind === "folder";
    const staysInside = isMove && isFolder && folders.every((folder) => countsIn(from, folder) && countsIn(to, folder));
    const target = replace === true ? await storage.stat(to) : undefined;
    return {
      isMeasured: true,
      isFolder,
      replacesFolder: target?.kind === "folder",
      size: staysInside ? NOTHING : await measure(storage, from, source, signal),
      replaced: await measure(storage, to, target, signal),
    };
  }

  return async (from: string, to: string, options: TransferOptions = {}): Promise<Placement> => {
    const changed = isMove ? [from, to] : [to];
    // What moves within the folder of a limit is in it already.
    const limits = admissions.limitsOf(to, options.quota).filter(({ path }) => !isMove || !countsIn(from, path));
    const reservation = admissions.open(limits);
    // Others may change the source of a copy meanwhile: what has arrived is measured afterwards.
    const unlock = await (isMove ? mutex.lock([], [from, to]) : mutex.lock([from], [to]));
    let endChange: () => void = () => undefined;
    try {
      const folders = [...(await admissions.countedAround(changed)), ...limits.map(({ path }) => path)];
      const { isMeasured, isFolder, replacesFolder, size, replaced } = await measureBefore(from, to, options, folders);
      await reservation.raise(toMissing(size, replaced));
      endChange = walks.announce(changed);
      if (isMove && isFolder) for (const folder of folders) walks.disturb(folder);
      const [placement, made] = await reservation.during(async (signal) => {
        const own = signal ? { ...options, signal } : options;
        const done = await asChange(internals, folders, () => storage[verb](from, to, own));
        const change = { from, to, isMove, isFolder, size };
        return [done, isMeasured ? await findMade(internals, change, folders) : undefined];
      }, options.signal);
      const arrived = made?.amount ?? size;
      if (placement === "created" && made !== undefined) {
        await keepIfAdmitted(internals, reservation, { arrived, folders }, made.undo);
      }
      const parts = [{ path: to, amount: subtract(arrived, toReplaced(replaced, placement)) }];
      if (isMove) parts.push({ path: from, amount: subtract(NOTHING, size) });
      const losesUploads = replacesFolder || (isMove && isFolder);
      await settle(internals, reservation, changed, { parts, losesUploads }, isMeasured);
      return placement;
    } finally {
      endChange();
      unlock();
      await reservation.release();
    }
  };
}

/** Some disks take names for the same that differ in case: then what moves itself was found at its new name. */
function toReplaced(found: Amount, placement: Placement): Amount {
  return placement === "created" ? NOTHING : found;
}

/** Runs a change. If it fails midway, the folders around it are counted again. */
async function asChange<T>(
  { counts }: QuotaInternals,
  folders: readonly string[],
  change: () => Promise<T>,
): Promise<T> {
  try {
    return await change();
  } catch (error) {
    if (!hasCode(error, ...REFUSALS)) await counts.markStale(folders);
    throw error;
  }
}

/** A copy or a move that was made. `size`: of what was moved. The source of a copy may have grown. */
interface Change {
  readonly from: string;
  readonly to: string;
  readonly isMove: boolean;
  readonly isFolder: boolean;
  readonly size: Amount;
}

/** What a change has made. */
interface Made {
  readonly amount: Amount;
  /** Undoes the change. What others have put in its place stays. */
  undo(): Promise<unknown>;
}

/** Looks at what a change has made. The requests of this process do not write there until it is counted or undone. */
async function findMade(internals: QuotaInternals, change: Change, folders: readonly string[]): Promise<Made> {
  const { from, to, isMove, isFolder, size } = change;
  const { storage, counts } = internals;
  const copied = createCopiedVersions(storage);
  const kind = isFolder ? "folder" : "file";
  let entry: StorageEntry | undefined;
  let amount = size;
  try {
    entry = await storage.stat(to);
    if (entry !== undefined) copied.note(to, entry);
    if (!isMove) amount = await measure(storage, to, entry, undefined, copied.note);
  } catch {
    await counts.markStale(folders);
  }
  const etag = isFolder ? undefined : toStrongTag(entry?.etag);
  const conditions = { kind, ...(etag !== undefined && { ifMatch: [etag] }) } as const;

  async function undo(): Promise<unknown> {
    if (isMove) return storage.move(to, from, conditions);
    return isFolder ? entry && copied.remove(to, entry) : storage.remove(to, { ...conditions, permanent: true });
  }

  return { amount, undo };
}

/**
 * Undoes a change if no limit has room for it any more: the source of a copy has grown meanwhile, or the lease has
 * ended and others have had the room. If the store fails, the change stays.
 */
async function keepIfAdmitted(
  { counts }: QuotaInternals,
  reservation: Reservation,
  { arrived, folders }: { readonly arrived: Amount; readonly folders: readonly string[] },
  undo: () => Promise<unknown>,
): Promise<void> {
  try {
    await reservation.renew();
    await reservation.raise(arrived, { isUnderWay: true });
  } catch (error) {
    const isFull = hasCode(error, "no-space");
    await (isFull ? undoOrFail(undo) : Promise.resolve()).finally(() => counts.markStale(folders));
    if (isFull) throw error;
  }
}

async function undoOrFail(undo: () => Promise<unknown>): Promise<void> {
  try {
    await undo();
  } catch (cause) {
    throw new StorageError("unavailable", "A change exceeds a quota, and could not be undone.", { cause });
  }
}

/** Counts a change. What was not measured is counted by a walk, if a count of it was started meanwhile. */
async function settle(
  { admissions, counts }: QuotaInternals,
  reservation: Reservation,
  changed: readonly string[],
  settlement: Settlement,
  isMeasured: boolean,
): Promise<void> {
  const folders = await admissions.countedAfter(changed);
  await reservation.settle(settlement, folders);
  if (!isMeasured) await counts.markStale(folders);
}
