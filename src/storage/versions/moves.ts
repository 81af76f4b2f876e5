import { hasCode, type StorageAdapter, type StorageEntry } from "../../contracts/storage-adapter.ts";
import { VERSION_MOVES_FOLDER } from "../area.ts";
import { isCutMove } from "../wrappers/cut-moves.ts";
import { isTimedId } from "../wrappers/timed-ids.ts";
import { endTimedRecords, storeTimedRecord } from "../wrappers/timed-records.ts";
import type { VersionInternals } from "./internals.ts";
import { dropVersions, relocate, toVersionsPlace } from "./relocate.ts";

/** What is known of a move or a removal that takes versions along, so that another process can end it. */
export interface MoveRecord {
  readonly from: string;
  /** The new path; absent for a removal. */
  readonly to?: string;
  readonly kind: "file" | "folder";
  /** The tag of the file. */
  readonly etag?: string;
  /** The versions of the file. */
  readonly ids?: readonly string[];
  /** The versions go after what they belong to. Otherwise they go first, and come back if the move fails. */
  readonly versionsFollow?: true;
}

/**
 * Runs a move or a removal, and takes the versions along: before it or after it, as the record says. If that fails
 * after the move, the next sweep does it.
 */
export async function runMove<T>(
  internals: VersionInternals,
  record: MoveRecord,
  action: () => Promise<T>,
): Promise<T> {
  const forget = await storeTimedRecord(internals, VERSION_MOVES_FOLDER, record);
  const { from, to, kind, ids } = record;
  const [here, there] = [from, to].map((path) => (path === undefined ? undefined : toVersionsPlace(path, kind)));
  let isSettled = false;
  try {
    if (record.versionsFollow !== true && here && there) await relocate(internals.storage, here, there, ids);
    const result = await action();
    if (record.versionsFollow === true && here) {
      const follow = (): Promise<void> =>
        there ? relocate(internals.storage, here, there, ids) : dropVersions(internals.storage, here);
      isSettled = await succeedsInTwoTries(follow);
    } else isSettled = true;
    return result;
  } catch (error) {
    // After some failures the move is done.
    isSettled = await succeedsInTwoTries(() => settle(internals, record));
    throw error;
  } finally {
    if (there) internals.known.set(there.folder, undefined);
    if (isSettled) await forget();
  }
}

async function succeedsInTwoTries(step: () => Promise<void>): Promise<boolean> {
  return step()
    .catch(step)
    .then(
      () => true,
      () => false,
    );
}

/** Ends the moves that crashes have left. */
export async function finishMoves(internals: VersionInternals): Promise<undefined> {
  await endTimedRecords(internals, VERSION_MOVES_FOLDER, async (value) => {
    const record = toRecord(value);
    if (record === undefined) return;
    const unlock = await internals.mutex.lock(record.to === undefined ? [record.from] : [record.from, record.to]);
    await endFileMove(internals.storage, record)
      .then(() => settle(internals, record))
      .finally(unlock);
  });
}

/** Takes the second step of a move that a crash has cut in two. */
async function endFileMove(storage: StorageAdapter, { from, to, etag }: MoveRecord): Promise<void> {
  if (to === undefined || etag === undefined) return;
  const [source, target] = await Promise.all([storage.stat(from), storage.stat(to)]);
  if (source?.etag !== etag || !isCutMove(source, target)) return;
  await storage.remove(from, { kind: "file", ifMatch: [etag], permanent: true }).catch((error: unknown) => {
    if (!hasCode(error, "not-found", "precondition-failed")) throw error;
  });
}

/** Looks at what has become of a move, and has the versions go where what they belong to is. */
async function settle({ storage }: VersionInternals, record: MoveRecord): Promise<void> {
  const { from, to, kind, ids, versionsFollow } = record;
  const here = toVersionsPlace(from, kind);
  const source = await storage.stat(from);
  if (here === undefined) return;
  if (to === undefined) {
    if (source === undefined) await dropVersions(storage, here);
    return;
  }
  const there = toVersionsPlace(to, kind);
  const target = await storage.stat(to);
  if (there === undefined) return;
  if (hasArrived(record, source, target)) await relocate(storage, here, there, ids);
  else if (source?.kind === kind && versionsFollow !== true) await relocate(storage, there, here, ids);
}

/** Whether the file or folder itself is at its new path. */
function hasArrived(
  { kind, etag }: MoveRecord,
  source: StorageEntry | undefined,
  target: StorageEntry | undefined,
): boolean {
  if (target?.kind !== kind) return false;
  return source === undefined || (etag !== undefined && target.etag === etag && source.etag !== etag);
}

function toRecord(value: unknown): MoveRecord | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { from, to, kind, etag, ids, versionsFollow } = value as Record<string, unknown>;
  const isKnown = typeof from === "string" && (kind === "file" || kind === "folder");
  if (!isKnown || (to !== undefined && typeof to !== "string")) return undefined;
  return {
    from,
    kind,
    ...(to !== undefined && { to }),
    ...(typeof etag === "string" && { etag }),
    ...(versionsFollow === true && { versionsFollow }),
    ...(Array.isArray(ids) && { ids: ids.filter((id) => typeof id === "string" && isTimedId(id)) }),
  };
}
