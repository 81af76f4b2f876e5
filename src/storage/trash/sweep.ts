import type { StorageAdapter } from "../../contracts/storage-adapter.ts";
import { inParallel } from "../../platform/in-parallel.ts";
import { runSweeps } from "../../platform/run-sweeps.ts";
import { TRASH_FOLDER, UNUSED_TRASH_FOLDER } from "../area.ts";
import { makeFolders } from "../wrappers/folders.ts";
import { ignoreMissing, listIfFolder } from "../wrappers/list-folder.ts";
import { createTimedId, toTimeOfId } from "../wrappers/timed-ids.ts";
import { lookAtEntry, readRemovedPath, toEntryFolder } from "./entry.ts";
import type { TrashInternals } from "./internals.ts";
import { type EntryPlace, isPlace, toPlace } from "./places.ts";
import { endPurges } from "./purge-records.ts";
import { cleanUpEntry, isTooOld, purgeEntry } from "./restore-purge.ts";
import { walkEntries } from "./walk.ts";

/** How long a removal may take. What is still not complete then is what a crash has left. */
const COMPLETION_MILLISECONDS = 3_600_000;
/** Each sweep checks whether entries between these two ages are complete. */
const LAST_LOOK_MILLISECONDS = 86_400_000;
/** How many entries are removed at the same time. */
const PARALLEL = 8;
/** The end of the name of an unused folder that was for other folders, and was moved away. */
const PLAIN = "~p";
/** The same for a folder of entries. */
const PLACE = "~t";

/**
 * Removes the entries that are too old, what crashes have left, and folders that nothing uses. Returns the number of
 * entries. An entry that cannot be removed stops no other one; afterwards it rejects with the first failure. If the
 * signal aborts, it rejects with its reason before the next entry.
 *
 * No call of a storage removes a folder only if it is empty, and another process may be about to use it. So it is moved
 * away, and removed an hour later. What has come into it meanwhile is moved back.
 */
export function sweepEntries(internals: TrashInternals, signal?: AbortSignal): Promise<number> {
  return runSweeps(
    [
      () => removeUnused(internals, signal),
      () => sweepPlaces(internals, signal),
      () => endPurges(internals, (place) => cleanUpEntry(internals, place)),
    ],
    signal,
  );
}

async function sweepPlaces(internals: TrashInternals, signal: AbortSignal | undefined): Promise<number> {
  const entries = walkEntries(internals.storage, TRASH_FOLDER, (folder) => setAside(internals, folder));
  let count = 0;
  await inParallel(flatten(entries, signal), { most: PARALLEL, goesOn: true, signal }, async (place) => {
    if (await sweepEntry(internals, place)) count += 1;
  });
  return count;
}

async function* flatten<T>(batches: AsyncIterable<readonly T[]>, signal: AbortSignal | undefined): AsyncGenerator<T> {
  for await (const batch of batches) {
    // Most folders may have no entries.
    signal?.throwIfAborted();
    yield* batch;
  }
}

async function sweepEntry(internals: TrashInternals, place: EntryPlace): Promise<boolean> {
  const age = internals.clock() - toTimeOfId(place.id);
  if (isTooOld(internals, place.id)) {
    if ((await purgeEntry(internals, place, "age")) !== undefined) return true;
    if (age > COMPLETION_MILLISECONDS) await cleanUpEntry(internals, place);
  } else if (age > COMPLETION_MILLISECONDS && age < LAST_LOOK_MILLISECONDS) {
    await cleanUpEntry(internals, place);
  }
  return false;
}

async function setAside({ storage, clock }: TrashInternals, folder: string): Promise<void> {
  if (folder === TRASH_FOLDER) return;
  await makeFolders(storage, UNUSED_TRASH_FOLDER);
  const name = `${createTimedId(clock())}${isPlace(folder) ? PLACE : PLAIN}`;
  await storage.move(folder, `${UNUSED_TRASH_FOLDER}/${name}`, { kind: "folder" }).catch(ignoreMissing);
}

async function removeUnused(internals: TrashInternals, signal: AbortSignal | undefined): Promise<undefined> {
  const { storage, clock } = internals;
  for await (const batch of listIfFolder(storage, UNUSED_TRASH_FOLDER)) {
    for (const { name } of batch) {
      signal?.throwIfAborted();
      const time = toTimeOfId(name.slice(0, -PLACE.length));
      if (Number.isNaN(time) || clock() - time < COMPLETION_MILLISECONDS) continue;
      const folder = `${UNUSED_TRASH_FOLDER}/${name}`;
      if (await rescueBelow(storage, folder)) await storage.remove(folder, { kind: "folder" }).catch(ignoreMissing);
    }
  }
}

/** Moves the entries in an unused folder back to where they belong. Returns whether none is left. */
async function rescueBelow(storage: StorageAdapter, top: string): Promise<boolean> {
  let isDone = true;
  for await (const batch of walkEntries(storage, top)) {
    for (const found of batch) {
      const { path: folder, data } = await lookAtEntry(storage, found);
      if (data === undefined) continue;
      const path = await readRemovedPath(storage, folder);
      if (path === undefined) isDone = false;
      else {
        const place = toPlace(path);
        await makeFolders(storage, place);
        await storage.move(folder, toEntryFolder({ folder: place, id: found.id })).catch(ignoreMissing);
      }
    }
  }
  return isDone;
}
