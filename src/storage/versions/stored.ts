import { toStrongTag } from "../../contracts/entity-tags.ts";
import type { FileVersion } from "../../contracts/kept/versions.ts";
import { hasCode, type StorageEntry } from "../../contracts/storage-adapter.ts";
import { createBoundedMap } from "../../platform/bounded-map.ts";
import { createSmallest } from "../../platform/smallest.ts";
import { ignoreMissing, listIfFolder } from "../wrappers/list-folder.ts";
import { isTimedId, toTimeOfId } from "../wrappers/timed-ids.ts";
import { haveSameBytes } from "./compare.ts";
import type { VersionInternals } from "./internals.ts";
import { toVersionsFolder } from "./places.ts";

/** Whether a member of a folder of versions is a version. */
export function isVersion({ kind, name }: StorageEntry): boolean {
  return kind === "file" && isTimedId(name);
}

/** Whether a version is too old, whether or not a sweep has come by. */
export function isVersionTooOld({ clock, keepMilliseconds }: VersionInternals, id: string): boolean {
  return clock() - toTimeOfId(id) > keepMilliseconds;
}

export function toFileVersion({ name, modified, size, etag }: StorageEntry): FileVersion {
  return { id: name, modified, size, ...(etag !== undefined && { etag }) };
}

/** Returns the newest versions in a folder, the newest first. */
export async function findNewest(
  { storage }: VersionInternals,
  folder: string,
  count: number,
): Promise<readonly StorageEntry[]> {
  const newest = createSmallest<StorageEntry>(count, (one, other) => (one.name > other.name ? -1 : 1));
  for await (const batch of listIfFolder(storage, folder)) await newest.add(batch.filter(isVersion));
  return newest.sorted();
}

/** Pairs of a version and a file that were compared, by the ID of the one and the tag of the other. */
const compared = createBoundedMap<string, boolean>(10_000);

/**
 * Whether a version has the content of the present file: a crash has left it between the copy and the replacement.
 * Reads both if their sizes are equal.
 */
export async function isLeftover(
  { storage }: VersionInternals,
  path: string,
  version: StorageEntry,
  present: StorageEntry | undefined,
): Promise<boolean> {
  if (present?.kind !== "file" || present.size !== version.size) return false;
  const etag = toStrongTag(present.etag);
  const key = etag === undefined ? undefined : version.name + etag;
  const known = key === undefined ? undefined : compared.get(key);
  if (known !== undefined) return known;
  try {
    const isSame = await haveSameBytes(storage, `${toVersionsFolder(path)}/${version.name}`, path);
    // The file may have changed before it was read.
    if (key !== undefined && (await storage.stat(path))?.etag === present.etag) compared.set(key, isSame);
    return isSame;
  } catch (error) {
    if (hasCode(error, "not-found", "not-a-file")) return false;
    throw error;
  }
}

/** Removes a version. Of several callers one gets `true`, if the storage can distinguish them. */
export async function removeVersion(
  { storage, known }: VersionInternals,
  folder: string,
  id: string,
): Promise<boolean> {
  let isRemoved = true;
  try {
    await storage.remove(`${folder}/${id}`, { kind: "file", permanent: true });
  } catch (error) {
    ignoreMissing(error);
    isRemoved = false;
  }
  // Otherwise it would still count, and an older version would be one too many.
  const rest = known.get(folder)?.filter((one) => one !== id);
  if (rest !== undefined) known.set(folder, rest);
  return isRemoved;
}

/** Notes a new version of a file, and removes those that are too many or too old. Returns how many it has removed. */
export async function prune(internals: VersionInternals, folder: string, added?: string): Promise<number> {
  const { keep, known } = internals;
  const before = added === undefined ? undefined : known.get(folder);
  const ids = before === undefined || added === undefined ? await listIds(internals, folder) : [...before, added];
  const due = ids.filter((id, index) => index < ids.length - keep || isVersionTooOld(internals, id));
  known.set(folder, ids);
  let count = 0;
  for (const id of due) if (await removeVersion(internals, folder, id)) count += 1;
  return count;
}

async function listIds({ storage }: VersionInternals, folder: string): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const batch of listIfFolder(storage, folder)) {
    for (const member of batch) if (isVersion(member)) ids.push(member.name);
  }
  return ids.sort();
}
