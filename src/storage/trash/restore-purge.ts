import type { RestoreOptions, TrashEntry, TrashPurge } from "../../contracts/kept/trash.ts";
import { hasCode, type StorageAdapter, type StorageEntry, StorageError } from "../../contracts/storage-adapter.ts";
import { toCanonicalPath, toPathSegments } from "../../contracts/storage-path.ts";
import { isInArea } from "../area.ts";
import { isCutMove } from "../wrappers/cut-moves.ts";
import { makeFolders, removeMade } from "../wrappers/folders.ts";
import { ignoreMissing } from "../wrappers/list-folder.ts";
import { TRASH_DATA } from "../wrappers/records.ts";
import { toTimeOfId } from "../wrappers/timed-ids.ts";
import { lookAtEntry, PURGED, readEntry, readFoundEntry, toEntryFolder } from "./entry.ts";
import type { TrashInternals } from "./internals.ts";
import type { EntryPlace } from "./places.ts";
import { notePurge } from "./purge-records.ts";

/** Whether the trash no longer keeps an entry, whether or not a sweep has come by. */
export function isTooOld({ clock, keepMilliseconds }: TrashInternals, id: string): boolean {
  return clock() - toTimeOfId(id) > keepMilliseconds;
}

/** Restores an entry, and returns its path. @throws what `Trash.restore` throws */
export async function restoreEntry(
  internals: TrashInternals,
  place: EntryPlace,
  to: string | undefined,
  { quota }: RestoreOptions,
): Promise<string> {
  const { storage, withLock } = internals;
  return withLock(place.id, async () => {
    const entry = isTooOld(internals, place.id) ? undefined : await readEntry(storage, place);
    if (entry === undefined) throw new StorageError("not-found");
    const path = to ?? entry.path;
    const segments = toPathSegments(path);
    if (segments.length === 0 || isInArea(path)) throw new StorageError("denied", "Nothing is restored to this path.");
    const folder = toEntryFolder(place);
    const present = await storage.stat(path);
    if (present === undefined) {
      const made: string[] = [];
      try {
        await makeFolders(storage, toCanonicalPath(segments.slice(0, -1)), made);
        await storage.move(`${folder}/${TRASH_DATA}`, path, { ...(quota && { quota }) });
      } catch (error) {
        await removeMade(storage, made).catch(() => undefined);
        throw error;
      }
    } else if (!(await isHalfRestored(storage, place, present))) throw new StorageError("already-exists");
    // Without its data it is no entry: otherwise a sweep removes it.
    await storage.remove(folder, { kind: "folder" }).catch(() => undefined);
    return path;
  });
}

/** Whether a crash has cut a restoration in two, so that the file is back in its place, but also still an entry. */
async function isHalfRestored(storage: StorageAdapter, place: EntryPlace, present: StorageEntry): Promise<boolean> {
  const { data, hasVersions } = await lookAtEntry(storage, place);
  return isCutMove(data, present) && !hasVersions;
}

/** Removes an entry for good. Returns it, or `undefined` if another caller has ended it. */
export async function purgeEntry(
  internals: TrashInternals,
  place: EntryPlace,
  reason?: TrashPurge["reason"],
): Promise<TrashEntry | undefined> {
  const { storage, withLock, report } = internals;
  return withLock(place.id, async () => {
    const found = await lookAtEntry(storage, place);
    const entry = await readFoundEntry(storage, place, found);
    if (entry === undefined) return undefined;
    // What is left of a plain file has no bytes, and the next sweep finds what is too old by itself.
    const isLong = (entry.kind === "folder" || found.hasVersions) && reason !== "age";
    const forget = isLong ? await notePurge(internals, place) : undefined;
    const isOwn = await claim(internals, place, entry.kind);
    if (isOwn) await storage.remove(found.path, { kind: "folder" }).catch(ignoreMissing);
    await forget?.();
    if (!isOwn) return undefined;
    if (reason !== undefined) report({ entry, reason });
    return entry;
  });
}

/**
 * Takes the data of an entry away in one step, so that no restoration finds it. A folder is moved first: its removal
 * takes many steps, and a restoration in another process could come between them.
 */
async function claim({ storage }: TrashInternals, place: EntryPlace, kind: TrashEntry["kind"]): Promise<boolean> {
  const folder = toEntryFolder(place);
  try {
    if (kind === "folder") await storage.move(`${folder}/${TRASH_DATA}`, `${folder}/${PURGED}`);
    else await storage.remove(`${folder}/${TRASH_DATA}`, { kind: "file" });
    return true;
  } catch (error) {
    if (hasCode(error, "not-found", "already-exists", "parent-missing")) return false;
    throw error;
  }
}

/** Removes what a crash has left of a removal, a restoration or a purge. */
export async function cleanUpEntry({ storage, withLock }: TrashInternals, place: EntryPlace): Promise<void> {
  await withLock(place.id, async () => {
    const { data, isPurged, path } = await lookAtEntry(storage, place);
    if (data !== undefined && !isPurged) return;
    // A storage that moves in several steps may have left some of it here. Alone it would be taken for an entry.
    if (data !== undefined) {
      await storage.remove(`${path}/${TRASH_DATA}`, { kind: "folder" }).catch(ignoreMissing);
    }
    await storage.remove(path, { kind: "folder" }).catch(ignoreMissing);
  });
}
