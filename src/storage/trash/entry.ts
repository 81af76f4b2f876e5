import type { TrashEntry } from "../../contracts/kept/trash.ts";
import { isStorageError, type StorageAdapter, type StorageEntry } from "../../contracts/storage-adapter.ts";
import { toPathSegments } from "../../contracts/storage-path.ts";
import { listIfFolder } from "../wrappers/list-folder.ts";
import { TRASH_DATA, TRASH_INFO, TRASH_VERSIONS } from "../wrappers/records.ts";
import { readSmallText, writeSmallText } from "../wrappers/small-texts.ts";
import { toTimeOfId } from "../wrappers/timed-ids.ts";
import { type EntryPlace, isInexact, toPathOf } from "./places.ts";

/** A folder that is being removed for good: it was moved away from `data`, so no restoration finds it. */
export const PURGED = "purged";
/** More than any path with the rest of the information. */
const MAX_INFO_BYTES = 1024 * 1024;

/** The folder of an entry, as it is now. */
export interface EntryFolder {
  readonly path: string;
  /** What was removed; `undefined` if it is not there yet, or no longer. */
  readonly data: StorageEntry | undefined;
  readonly hasInfo: boolean;
  readonly isPurged: boolean;
  /** Whether the versions of what was removed are there. A wrapper below the trash keeps them. */
  readonly hasVersions: boolean;
}

export function toEntryFolder({ folder, id }: EntryPlace): string {
  return `${folder}/${id}`;
}

/** Writes what is known of an entry, before what was removed comes next to it. */
export async function writeInfo(storage: StorageAdapter, folder: string, entry: TrashEntry): Promise<void> {
  const { path, kind, size, removed } = entry;
  const text = JSON.stringify({ path, kind, removed: removed.toISOString(), ...(kind === "file" && { size }) });
  await writeSmallText(storage, `${folder}/${TRASH_INFO}`, text);
}

/** Looks at the folder of an entry. Of a missing folder everything is missing. */
export async function lookAtEntry(storage: StorageAdapter, place: EntryPlace): Promise<EntryFolder> {
  const path = toEntryFolder(place);
  let data: StorageEntry | undefined;
  let [hasInfo, isPurged, hasVersions] = [false, false, false];
  for await (const batch of listIfFolder(storage, path)) {
    for (const member of batch) {
      if (member.name === TRASH_DATA) data = member;
      hasInfo ||= member.name === TRASH_INFO;
      isPurged ||= member.name === PURGED;
      hasVersions ||= member.name === TRASH_VERSIONS;
    }
  }
  return { path, data, hasInfo, isPurged, hasVersions };
}

/** Reads an entry. Returns `undefined` if it is not complete, or is being removed for good. */
export async function readEntry(storage: StorageAdapter, place: EntryPlace): Promise<TrashEntry | undefined> {
  return readFoundEntry(storage, place, await lookAtEntry(storage, place));
}

/** As {@link readEntry}, of a folder that was looked at. */
export async function readFoundEntry(
  storage: StorageAdapter,
  place: EntryPlace,
  { path, data, hasInfo, isPurged }: EntryFolder,
): Promise<TrashEntry | undefined> {
  if (data === undefined || isPurged) return undefined;
  // Most paths are known without it, and a list of thousands is read several times as fast.
  const mustRead = hasInfo && isInexact(place.folder);
  const from = (mustRead ? await readRemovedPath(storage, path) : undefined) ?? toPathOf(place.folder);
  return toTrashEntry(place.id, from, data);
}

export function toTrashEntry(
  id: string,
  path: string,
  { kind, size }: Pick<StorageEntry, "kind" | "size">,
): TrashEntry {
  return { id, path, kind: kind === "folder" ? "folder" : "file", size, removed: new Date(toTimeOfId(id)) };
}

/**
 * Reads the path of an entry from its information. Returns `undefined` if it cannot be read, as the entry is worth more
 * than its path. `folder`: that of the entry.
 */
export async function readRemovedPath(storage: StorageAdapter, folder: string): Promise<string | undefined> {
  try {
    const text = await readSmallText(storage, `${folder}/${TRASH_INFO}`, MAX_INFO_BYTES);
    const info: unknown = JSON.parse(text ?? "");
    const found = typeof info === "object" && info !== null && "path" in info ? info.path : undefined;
    return typeof found === "string" && toPathSegments(found).length > 0 ? found : undefined;
  } catch (error) {
    if (isStorageError(error) && error.code !== "not-found" && error.code !== "not-a-file") throw error;
    return undefined;
  }
}
