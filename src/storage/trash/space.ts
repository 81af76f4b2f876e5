import type { QuotaLimit } from "../../contracts/quota.ts";
import { quotaShortageOf } from "../../contracts/quota.ts";
import { hasCode } from "../../contracts/storage-adapter.ts";
import { isWithinFolder } from "../../contracts/storage-path.ts";
import { TRASH_FOLDER } from "../area.ts";
import { TRASH_DATA, TRASH_VERSIONS } from "../wrappers/records.ts";
import { purgeEntry } from "./ends.ts";
import { lookAtEntry, readEntry } from "./entry.ts";
import type { TrashParts } from "./parts.ts";
import { type EntryPlace, toTrashFolder } from "./places.ts";
import { walkEntries, walkInOrder, walkTrashMembers } from "./walk.ts";

/** An amount of bytes and files. */
interface Space {
  readonly bytes: number;
  readonly files: number;
}

/** The number of entries that are removed for one file at most. */
const MAX_REMOVED = 10_000;
/** How full the trash is when the oldest entries have gone: then not each removal has to remove others. */
const FILLED = 0.9;

/** Returns how much an entry takes with its versions. What another caller ends meanwhile takes nothing. */
export async function measureEntry({ storage }: TrashParts, place: EntryPlace): Promise<Space> {
  const { path, data, hasVersions } = await lookAtEntry(storage, place);
  const folders = [data?.kind === "folder" && `${path}/${TRASH_DATA}`, hasVersions && `${path}/${TRASH_VERSIONS}`];
  let [bytes, files] = data?.kind === "file" ? [data.size, 1] : [0, 0];
  for (const folder of folders.filter((one) => one !== false)) {
    for await (const { kind, size } of walkTrashMembers(storage, folder)) {
      bytes += size;
      if (kind === "file") files += 1;
    }
  }
  return { bytes, files };
}

/**
 * Removes entries if the trash has more than `maxBytes`: those that are larger than it, and the oldest ones until a
 * tenth is free. Returns the number of entries, and the bytes that are left.
 */
export async function cutToSize(parts: TrashParts, maxBytes: number): Promise<{ count: number; bytes: number }> {
  let [count, bytes] = [0, 0];

  async function end(place: EntryPlace): Promise<boolean> {
    const isEnded = (await purgeEntry(parts, place, "space")) !== undefined;
    if (isEnded) count += 1;
    return isEnded;
  }

  for await (const batch of walkEntries(parts.storage, TRASH_FOLDER)) {
    for (const place of batch) {
      const { bytes: size } = await measureEntry(parts, place);
      if (size <= maxBytes || !(await end(place))) bytes += size;
    }
  }
  if (bytes <= maxBytes) return { count, bytes };
  for await (const page of walkInOrder(parts.storage, TRASH_FOLDER, "oldest")) {
    for (const place of page) {
      if (bytes <= FILLED * maxBytes) return { count, bytes };
      const { bytes: size } = await measureEntry(parts, place);
      if (await end(place)) bytes -= size;
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
}

/**
 * Runs an action. If there is no room for it, removes the oldest entries that came from the caller's home, if that
 * makes enough room, and runs it again. `mayRepeat`: whether nothing of the content has been taken.
 */
export async function withRoom<T>(
  parts: TrashParts,
  needed: NeededRoom,
  action: () => Promise<T>,
  mayRepeat: () => boolean = () => true,
): Promise<T> {
  try {
    return await action();
  } catch (error) {
    if (!hasCode(error, "no-space") || !mayRepeat() || !(await makeRoom(parts, needed, error))) throw error;
    return action();
  }
}

async function makeRoom(parts: TrashParts, { path, quota, size = 0 }: NeededRoom, error: unknown): Promise<boolean> {
  const { path: limit = "/", ...shortage } = quotaShortageOf(error) ?? { bytes: size, files: 0 };
  const home = quota?.path;
  if (home === undefined || !isWithinFolder(path, home)) return false;
  const folder = isWithinFolder(limit, home) ? limit : home;
  return parts.withLock(folder, () => removeOldest(parts, folder, shortage));
}

/** Removes the oldest entries from below a folder, as many as make enough room. Removes none if all are not enough. */
async function removeOldest(parts: TrashParts, folder: string, { bytes, files }: Space): Promise<boolean> {
  const chosen: EntryPlace[] = [];
  let freed: Space = { bytes: 0, files: 0 };
  for await (const page of walkInOrder(parts.storage, toTrashFolder(folder), "oldest")) {
    for (const place of page) {
      const entry = await readEntry(parts.storage, place);
      if (entry === undefined || !isWithinFolder(entry.path, folder)) continue;
      const space = await measureEntry(parts, place);
      freed = { bytes: freed.bytes + space.bytes, files: freed.files + space.files };
      chosen.push(place);
      if (freed.bytes >= bytes && freed.files >= files) {
        for (const one of chosen) await purgeEntry(parts, one, "space");
        return true;
      }
      if (chosen.length === MAX_REMOVED) return false;
    }
  }
  return false;
}
