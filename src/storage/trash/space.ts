import type { QuotaLimit } from "../../contracts/quota.ts";
import { quotaShortageOf } from "../../contracts/quota.ts";
import { hasCode, type StorageEntry } from "../../contracts/storage-adapter.ts";
import { toUnfollowed } from "../../contracts/storage-entry.ts";
import { isWithinFolder } from "../../contracts/storage-path.ts";
import { TRASH_FOLDER } from "../area.ts";
import { TRASH_DATA, TRASH_VERSIONS } from "../wrappers/records.ts";
import { lookAtEntry, readEntry } from "./entry.ts";
import type { TrashInternals } from "./internals.ts";
import { type EntryPlace, toTrashFolder } from "./places.ts";
import { purgeEntry } from "./restore-purge.ts";
import { walkEntries, walkInOrder, walkTrashMembers } from "./walk.ts";

/** An amount of bytes and files. */
interface Space {
  readonly bytes: number;
  readonly files: number;
}

const NOTHING: Space = { bytes: 0, files: 0 };
/** The number of entries that are removed for one file at most. */
const MAX_REMOVED = 10_000;
/** How full the trash is when the oldest entries have gone: then not each removal has to remove others. */
const FILLED = 0.9;

/** Returns how much an entry takes with its versions. What another caller ends meanwhile takes nothing. */
export async function measureEntry(internals: TrashInternals, place: EntryPlace): Promise<Space> {
  const { path, data, hasVersions } = await lookAtEntry(internals.storage, place);
  const own = await measureAt(internals, `${path}/${TRASH_DATA}`, data);
  return hasVersions ? addTo(own, await measureFolder(internals, `${path}/${TRASH_VERSIONS}`)) : own;
}

/** Returns how much is at a path, which has an entry or nothing. */
async function measureAt(internals: TrashInternals, path: string, entry: StorageEntry | undefined): Promise<Space> {
  const { kind, size } = entry === undefined ? { kind: undefined, size: 0 } : toUnfollowed(entry);
  if (kind === "folder") return measureFolder(internals, path);
  return kind === "file" ? { bytes: size, files: 1 } : NOTHING;
}

async function measureFolder({ storage }: TrashInternals, folder: string): Promise<Space> {
  let sum = NOTHING;
  for await (const { kind, size } of walkTrashMembers(storage, folder)) {
    sum = addTo(sum, { bytes: size, files: kind === "file" ? 1 : 0 });
  }
  return sum;
}

function addTo(one: Space, other: Space): Space {
  return { bytes: one.bytes + other.bytes, files: one.files + other.files };
}

/**
 * Removes entries if the trash has more than `maxBytes`: those that are larger than it, and the oldest ones until a
 * tenth is free, or one is left. Returns the number of entries, and the bytes that are left. Rejects with the reason of
 * the signal.
 */
export async function cutToSize(
  internals: TrashInternals,
  maxBytes: number,
  signal: AbortSignal | undefined,
): Promise<{ count: number; bytes: number }> {
  let [count, bytes] = [0, 0];

  /** Another caller may have ended it already: it counts no more in either case. */
  async function end(place: EntryPlace): Promise<void> {
    if ((await purgeEntry(internals, place, "space")) !== undefined) count += 1;
  }

  for await (const batch of walkEntries(internals.storage, TRASH_FOLDER)) {
    for (const place of batch) {
      signal?.throwIfAborted();
      const { bytes: size } = await measureEntry(internals, place);
      if (size <= maxBytes) bytes += size;
      else await end(place);
    }
  }
  if (bytes <= maxBytes) return { count, bytes };
  for await (const page of walkInOrder(internals.storage, TRASH_FOLDER, "oldest")) {
    for (const place of page) {
      signal?.throwIfAborted();
      const { bytes: size } = await measureEntry(internals, place);
      // What is left alone fits.
      if (bytes <= FILLED * maxBytes || bytes === size) return { count, bytes };
      await end(place);
      bytes -= size;
    }
  }
  return { count, bytes };
}

/** What is to be stored. */
export interface NeededRoom {
  readonly path: string;
  /** The limit of the caller. Its folder is the home of the caller: only what came from there makes room. */
  readonly quota: QuotaLimit | undefined;
  readonly size?: number | undefined;
  /** Where the bytes come from, if the size is that of something in the storage. It is measured if it is needed. */
  readonly from?: string;
  /** Rejects if the action would be refused with any room. Absent: the storage refuses it before it looks for room. */
  readonly check?: () => Promise<void>;
  /** The ID of an entry that does not make room. */
  readonly kept?: string;
  /** Of the caller, who may not want it any more. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs an action. If there is no room for it, removes the oldest entries that came from the caller's home, if that
 * makes enough room, and runs it again. `mayRepeat`: whether nothing of the content has been taken.
 */
export async function withRoom<T>(
  internals: TrashInternals,
  needed: NeededRoom,
  action: () => Promise<T>,
  mayRepeat: () => boolean = () => true,
): Promise<T> {
  try {
    return await action();
  } catch (error) {
    if (!hasCode(error, "no-space") || !mayRepeat() || !(await makeRoom(internals, needed, error))) throw error;
    return action();
  }
}

/** Whether a path is in the home of the caller, whose entries may make room for it. */
export function isInHome(path: string, quota: QuotaLimit | undefined): boolean {
  return quota !== undefined && isWithinFolder(path, quota.path);
}

/** Whether an entry has as much as an error says is missing. What a full disk lacks is not known. */
export async function hasMissing(internals: TrashInternals, place: EntryPlace, error: unknown): Promise<boolean> {
  const shortage = hasCode(error, "no-space") ? quotaShortageOf(error) : undefined;
  if (shortage === undefined) return false;
  const { bytes, files } = await measureEntry(internals, place);
  return bytes >= shortage.bytes && files >= shortage.files;
}

async function makeRoom(internals: TrashInternals, needed: NeededRoom, error: unknown): Promise<boolean> {
  const home = needed.quota?.path;
  if (home === undefined || !isInHome(needed.path, needed.quota)) return false;
  await needed.check?.();
  const quotaShortage = quotaShortageOf(error);
  const limit = quotaShortage?.path ?? "/";
  const shortage = quotaShortage ?? { bytes: await measureMissing(internals, needed), files: 0 };
  if (needed.signal?.aborted) return false;
  const folder = isWithinFolder(limit, home) ? limit : home;
  return internals.withLock(folder, () => removeOldest(internals, folder, shortage, needed.kept));
}

/** How many bytes a full disk lacks: all of them, if it does not say how many are free. */
async function measureMissing(internals: TrashInternals, { path, size = 0, from }: NeededRoom): Promise<number> {
  const { storage } = internals;
  const bytes = from === undefined ? size : (await measureAt(internals, from, await storage.stat(from))).bytes;
  const place = await storage.locateContent?.(path);
  return Math.max(1, bytes - ((await place?.freeBytes?.()) ?? 0));
}

/** Removes the oldest entries from below a folder, as many as make enough room. Removes none if all are not enough. */
async function removeOldest(
  internals: TrashInternals,
  folder: string,
  { bytes, files }: Space,
  kept: string | undefined,
): Promise<boolean> {
  const chosen: EntryPlace[] = [];
  let freed = NOTHING;
  for await (const page of walkInOrder(internals.storage, toTrashFolder(folder), "oldest")) {
    for (const place of page) {
      if (place.id === kept || !(await isFrom(internals, place, folder))) continue;
      freed = addTo(freed, await measureEntry(internals, place));
      chosen.push(place);
      if (freed.bytes >= bytes && freed.files >= files) {
        for (const one of chosen) await purgeEntry(internals, one, "space");
        return true;
      }
      if (chosen.length === MAX_REMOVED) return false;
    }
  }
  return false;
}

async function isFrom({ storage }: TrashInternals, place: EntryPlace, folder: string): Promise<boolean> {
  const entry = await readEntry(storage, place);
  return entry !== undefined && isWithinFolder(entry.path, folder);
}
