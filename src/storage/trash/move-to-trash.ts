import type { TrashEntry } from "../../contracts/kept/trash.ts";
import {
  hasCode,
  type RemoveOptions,
  type StorageEntry,
  StorageError,
  type StorageErrorCode,
} from "../../contracts/storage-adapter.ts";
import { makeFolders } from "../wrappers/folders.ts";
import { TRASH_DATA } from "../wrappers/records.ts";
import { createTimedId } from "../wrappers/timed-ids.ts";
import { toEntryFolder, toTrashEntry, writeInfo } from "./entry.ts";
import type { TrashInternals } from "./internals.ts";
import { toPlace } from "./places.ts";

/** How often a removal begins again when a sweep has just removed the empty folder that it needs. */
const MAX_ATTEMPTS = 5;

/** Errors of a move after which everything is where it was. */
const REFUSALS: readonly StorageErrorCode[] = [
  "not-found",
  "precondition-failed",
  "parent-missing",
  "denied",
  "bad-name",
];

/**
 * Moves a file or folder to the trash, as `remove` with the same conditions: its information first, then itself. So
 * what has the name `data` is complete, or the copy of a storage that does not move in one step.
 *
 * Rejects as `remove` does; with `not-found` also if the member has another kind by now.
 */
export async function moveToTrash(
  internals: TrashInternals,
  path: string,
  found: StorageEntry,
  options: Pick<RemoveOptions, "ifMatch">,
): Promise<TrashEntry> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await moveToTrashOnce(internals, path, found, options);
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !hasCode(error, "parent-missing")) throw toRemovalError(error);
    }
  }
}

async function moveToTrashOnce(
  { storage, clock, remember }: TrashInternals,
  path: string,
  found: StorageEntry,
  { ifMatch }: Pick<RemoveOptions, "ifMatch">,
): Promise<TrashEntry> {
  const entry = toTrashEntry(createTimedId(clock()), path, found);
  const place = { id: entry.id, folder: toPlace(path) };
  const folder = toEntryFolder(place);
  let isMoving = false;
  try {
    await makeFolders(storage, folder);
    await writeInfo(storage, folder, entry);
    isMoving = true;
    // Nothing is there to be replaced. But only with this option a disk moves a file in one step.
    const moving = { kind: entry.kind, replace: true, ...(ifMatch && { ifMatch }) };
    await storage.move(path, `${folder}/${TRASH_DATA}`, moving);
  } catch (error) {
    // After any other error the move may be done: the sweep looks at it later.
    const isRefusal = !isMoving || hasCode(error, ...REFUSALS);
    if (isRefusal) await storage.remove(folder, { kind: "folder" }).catch(() => undefined);
    throw error;
  }
  remember(place);
  return entry;
}

/**
 * Maps an error of storing an entry. The caller has not named the path of the entry, so an error about kinds becomes
 * `unavailable`. A path that is too long stays so, and becomes `unsupported`.
 */
function toRemovalError(error: unknown): unknown {
  if (hasCode(error, "bad-name")) {
    return new StorageError("unsupported", "A path would be too long in the trash.", { cause: error });
  }
  if (!hasCode(error, "parent-missing", "already-exists", "not-a-folder", "not-a-file")) return error;
  return new StorageError("unavailable", "The trash cannot take what is removed.", { cause: error });
}
