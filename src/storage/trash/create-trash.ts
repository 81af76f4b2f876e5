import type { SweepOptions } from "../../contracts/kept/sweep-options.ts";
import type { RestoreOptions, Trash, TrashEntry, TrashMember, TrashPurge } from "../../contracts/kept/trash.ts";
import { type StorageAdapter, StorageError } from "../../contracts/storage-adapter.ts";
import { isWithinFolder, toPathSegments } from "../../contracts/storage-path.ts";
import { createBoundedMap } from "../../platform/bounded-map.ts";
import type { KeyedMutex } from "../../platform/keyed-mutex.ts";
import { TRASH_FOLDER } from "../area.ts";
import { TRASH_DATA } from "../wrappers/records.ts";
import { createReportListeners } from "../wrappers/report-listeners.ts";
import { isTimedId } from "../wrappers/timed-ids.ts";
import { readEntry, toEntryFolder } from "./entry.ts";
import type { TrashInternals } from "./internals.ts";
import { type EntryPlace, toPlace, toTrashFolder } from "./places.ts";
import { isTooOld, purgeEntry, restoreEntry } from "./restore-purge.ts";
import { cutToSize, measureEntry } from "./space.ts";
import { sweepEntries } from "./sweep.ts";
import { walkEntries, walkInOrder, walkTrashMembers } from "./walk.ts";

/** What a trash needs. */
export interface TrashSettings {
  /** The storage with the area in which the trash is. */
  readonly storage: StorageAdapter;
  readonly clock: () => number;
  readonly keepMilliseconds: number;
  /** 0: any number. */
  readonly maxBytes: number;
  readonly withLock: KeyedMutex;
}

/** A trash, and what the verbs of its storage use of it. */
export interface CreatedTrash {
  readonly trash: Trash;
  readonly internals: TrashInternals;
  /**
   * Called after something has been moved to the trash: the oldest entries may have to go. Returns whether the new one
   * stays: what is larger than the trash may be goes at once. It never rejects.
   */
  onAdded(place: EntryPlace): Promise<boolean>;
}

/** How many places of entries are known without a walk. */
const MAX_KNOWN = 10_000;
/** How many entries are read at the same time. */
const PARALLEL = 16;
const NO_PATHS: ReadonlyMap<string, string> = new Map();

/** Creates the trash of a storage. */
export function createTrash({ storage, clock, keepMilliseconds, maxBytes, withLock }: TrashSettings): CreatedTrash {
  const known = createBoundedMap<string, EntryPlace>(MAX_KNOWN);
  /** How many bytes are in the trash at most, as far as this process knows. */
  let filled = Number.POSITIVE_INFINITY;
  const { watch, report } = createReportListeners<TrashPurge>();
  const remember = (place: EntryPlace): void => known.set(place.id, place);
  const internals: TrashInternals = { storage, clock, keepMilliseconds, withLock, remember, report };

  /** Only what has the form of an ID becomes a part of a path. */
  async function locate(id: string): Promise<EntryPlace | undefined> {
    if (!isTimedId(id)) return undefined;
    const place = known.get(id);
    if (place !== undefined) return place;
    for await (const batch of walkEntries(storage, TRASH_FOLDER)) {
      const found = batch.find((one) => one.id === id);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Reads some entries, a few at a time, and yields those that came from below a folder. */
  async function* readBelow(below: string, places: readonly EntryPlace[]): AsyncGenerator<TrashEntry> {
    for (let at = 0; at < places.length; at += PARALLEL) {
      const some = places.slice(at, at + PARALLEL);
      const entries = await Promise.all(some.map((place) => readEntry(storage, place)));
      for (const [index, entry] of entries.entries()) {
        if (entry === undefined) continue;
        remember(some[index] as EntryPlace);
        if (entry.path !== below && isWithinFolder(entry.path, below)) yield entry;
      }
    }
  }

  async function* list(below: string): AsyncGenerator<TrashEntry> {
    for await (const page of walkInOrder(storage, toTrashFolder(below), "newest")) {
      yield* readBelow(
        below,
        page.filter(({ id }) => !isTooOld(internals, id)),
      );
    }
  }

  /** Where an entry is, if it is known, or was removed from a path. */
  function expect(id: string, path: string | undefined): EntryPlace | undefined {
    return known.get(id) ?? (path === undefined ? undefined : { id, folder: toPlace(path) });
  }

  async function find(below: string, ids: readonly string[], paths = NO_PATHS): Promise<readonly TrashEntry[]> {
    const valid = [...new Set(ids)].filter((id) => isTimedId(id) && !isTooOld(internals, id));
    const places = valid.map((id) => expect(id, paths.get(id))).filter((place) => place !== undefined);
    const found: TrashEntry[] = [];
    for await (const entry of readBelow(below, places)) found.push(entry);
    const wanted = new Set(valid.filter((id) => known.get(id) === undefined));
    if (wanted.size === 0) return found;
    const walked: EntryPlace[] = [];
    for await (const batch of walkEntries(storage, toTrashFolder(below))) {
      walked.push(...batch.filter(({ id }) => wanted.delete(id)));
      if (wanted.size === 0) break;
    }
    for await (const entry of readBelow(below, walked)) found.push(entry);
    return found;
  }

  async function* members(id: string): AsyncGenerator<TrashMember> {
    const place = await locate(id);
    if (place === undefined) return;
    const data = `${toEntryFolder(place)}/${TRASH_DATA}`;
    // What a link leads to is not in the trash.
    if ((await storage.stat(data))?.isFollowed) return;
    for await (const { segments, kind } of walkTrashMembers(storage, data)) yield { segments, kind };
  }

  async function restore(id: string, to?: string, options: RestoreOptions = {}): Promise<string> {
    if (to !== undefined) toPathSegments(to);
    const place = await locate(id);
    if (place === undefined) throw new StorageError("not-found");
    return restoreEntry(internals, place, to, options);
  }

  async function purge(id: string): Promise<boolean> {
    const place = await locate(id);
    return place !== undefined && (await purgeEntry(internals, place)) !== undefined;
  }

  async function sweep({ signal }: SweepOptions = {}): Promise<number> {
    const count = await sweepEntries(internals, signal);
    return maxBytes === 0 ? count : count + (await withLock(TRASH_FOLDER, () => cut(signal)));
  }

  async function cut(signal?: AbortSignal): Promise<number> {
    const { count, bytes } = await cutToSize(internals, maxBytes, signal);
    filled = bytes;
    return count;
  }

  /** Callers at the same time share a cut: each is a walk. */
  async function onAdded(place: EntryPlace): Promise<boolean> {
    if (maxBytes === 0) return true;
    try {
      const { bytes } = await measureEntry(internals, place);
      if (bytes > maxBytes) {
        await purgeEntry(internals, place, "space");
        return false;
      }
      filled += bytes;
      if (filled > maxBytes) await withLock(TRASH_FOLDER, async () => void (filled > maxBytes && (await cut())));
    } catch {
      // What was removed is in the trash, and the next sweep cuts it.
    }
    return true;
  }

  return { trash: { list, find, members, restore, purge, sweep, watch }, internals, onAdded };
}
