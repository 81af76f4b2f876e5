import { isWithinFolder, toPathSegments } from "../../contracts/storage-path.ts";
import { TRASH_FOLDER, TRASH_PURGES_FOLDER } from "../area.ts";
import { isTimedId } from "../wrappers/timed-ids.ts";
import { endTimedRecords, storeTimedRecord } from "../wrappers/timed-records.ts";
import type { TrashInternals } from "./internals.ts";
import { type EntryPlace, isPlace } from "./places.ts";

/**
 * Notes that an entry is being removed for good in several steps. It may be of any age, so no sweep would look at what
 * a crash leaves of it. The function that it returns removes the note. If there is no room for the note, the entry goes
 * without one.
 */
export async function notePurge(internals: TrashInternals, { folder, id }: EntryPlace): Promise<() => Promise<void>> {
  return storeTimedRecord(internals, TRASH_PURGES_FOLDER, { folder, id }).catch(() => async () => undefined);
}

/** Calls a function with the entries whose removal a crash has cut off, and whose note is then removed. */
export async function endPurges(
  internals: TrashInternals,
  end: (place: EntryPlace) => Promise<void>,
): Promise<undefined> {
  await endTimedRecords(internals, TRASH_PURGES_FOLDER, async (record) => {
    const place = toEntryPlace(record);
    if (place !== undefined) await end(place);
  });
}

function toEntryPlace(value: unknown): EntryPlace | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { folder, id } = value as Record<string, unknown>;
  if (typeof folder !== "string" || typeof id !== "string" || !isTimedId(id)) return undefined;
  return isPlaceInTrash(folder) ? { folder, id } : undefined;
}

function isPlaceInTrash(folder: string): boolean {
  try {
    toPathSegments(folder);
  } catch {
    return false;
  }
  return isPlace(folder) && isWithinFolder(folder, TRASH_FOLDER);
}
