import {
  isStorageError,
  type Placement,
  type RemoveOptions,
  type StorageAdapter,
  type StorageErrorCode,
  type TransferOptions,
} from "../../contracts/storage-adapter.ts";
import type { Reservation } from "./admission.ts";
import { type Amount, NOTHING, subtract, toMissing } from "./amount.ts";
import { isWithin, toCountedPath } from "./counted-path.ts";
import type { Settlement } from "./counts.ts";
import { measure } from "./measure.ts";
import type { QuotaVerbs } from "./writes.ts";

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
export function createRemove(verbs: QuotaVerbs): StorageAdapter["remove"] {
  const { storage, admissions, turns, walks } = verbs;

  return async (path: string, options?: RemoveOptions): Promise<void> => {
    const endTurn = await turns.take([path]);
    let endChange: () => void = () => undefined;
    try {
      const folders = await admissions.countedAround([path]);
      const isMeasured = folders.length > 0;
      const entry = isMeasured ? await storage.stat(path) : undefined;
      const amount = await measure(storage, path, entry);
      endChange = walks.announce([path]);
      await asChange(verbs, folders, () => storage.remove(path, options));
      const parts = [{ path, amount: subtract(NOTHING, amount) }];
      const losesUploads = entry?.kind === "folder";
      await settle(verbs, admissions.open([]), [path], { parts, losesUploads }, isMeasured);
    } finally {
      endChange();
      endTurn();
    }
  };
}

/** What is known of a copy or a move before it is made. */
interface Measured {
  /** Whether anything of it counts anywhere. */
  readonly isMeasured: boolean;
  readonly isFolder: boolean;
  /** What comes to the new path. Nothing if it is a folder that moves within all folders that count it. */
  readonly size: Amount;
  readonly replaced: Amount;
}

/** Creates `copy` and `move` of a storage with quotas. */
export function createTransfer(verbs: QuotaVerbs, verb: "copy" | "move"): StorageAdapter["copy"] {
  const { storage, admissions, turns, walks } = verbs;
  const isMove = verb === "move";

  async function measureTransfer(
    from: string,
    to: string,
    { replace, signal }: TransferOptions,
    folders: readonly string[],
  ): Promise<Measured> {
    if (folders.length === 0) return { isMeasured: false, isFolder: false, size: NOTHING, replaced: NOTHING };
    const source = await storage.stat(from);
    const isFolder = source?.kind === "folder";
    const staysInside = isMove && isFolder && folders.every((folder) => isIn(from, folder) && isIn(to, folder));
    const target = replace === true ? await storage.stat(to) : undefined;
    return {
      isMeasured: true,
      isFolder,
      size: staysInside ? NOTHING : await measure(storage, from, source, signal),
      replaced: await measure(storage, to, target, signal),
    };
  }

  return async (from: string, to: string, options: TransferOptions = {}): Promise<Placement> => {
    const changed = isMove ? [from, to] : [to];
    // What moves within the folder of a limit is in it already.
    const limits = admissions.limitsOf(to, options.quota).filter(({ path }) => !isMove || !isIn(from, path));
    const reservation = admissions.open(limits);
    const endTurns = await turns.take([from, to]);
    let endChange: () => void = () => undefined;
    try {
      const folders = [...(await admissions.countedAround(changed)), ...limits.map(({ path }) => path)];
      const { isMeasured, isFolder, size, replaced } = await measureTransfer(from, to, options, folders);
      await reservation.raise(toMissing(size, replaced));
      endChange = walks.announce(changed);
      if (isMove && isFolder) for (const folder of folders) walks.disturb(folder);
      const placement = await asChange(verbs, folders, () => storage[verb](from, to, options));
      const arrived = isMove || !isMeasured ? size : await measureCopy(verbs, to, size, folders);
      const parts = [{ path: to, amount: subtract(arrived, replaced) }];
      if (isMove) parts.push({ path: from, amount: subtract(NOTHING, size) });
      await settle(verbs, reservation, changed, { parts, losesUploads: isMove && isFolder }, isMeasured);
      return placement;
    } finally {
      endChange();
      endTurns();
      await reservation.release();
    }
  };
}

/** Runs a change. If it fails midway, the folders around it are counted anew. */
async function asChange<T>({ counts }: QuotaVerbs, folders: readonly string[], change: () => Promise<T>): Promise<T> {
  try {
    return await change();
  } catch (error) {
    const isRefusal = isStorageError(error) && REFUSALS.includes(error.code);
    if (!isRefusal) await counts.markStale(folders);
    throw error;
  }
}

/** Returns the size of a copy: its source may have grown. */
async function measureCopy(
  { storage, counts }: QuotaVerbs,
  path: string,
  expected: Amount,
  folders: readonly string[],
): Promise<Amount> {
  try {
    return await measure(storage, path, await storage.stat(path));
  } catch {
    await counts.markStale(folders);
    return expected;
  }
}

/** Counts a change. What was not measured is counted by a walk, if a count of it was started meanwhile. */
async function settle(
  { admissions, counts }: QuotaVerbs,
  reservation: Reservation,
  changed: readonly string[],
  settlement: Settlement,
  isMeasured: boolean,
): Promise<void> {
  const folders = await admissions.countedAround(changed);
  await reservation.settle(settlement, folders);
  if (!isMeasured) await counts.markStale(folders);
}

function isIn(path: string, folder: string): boolean {
  return isWithin(toCountedPath(path), folder);
}
