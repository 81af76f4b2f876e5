import { hasCode, type StorageAdapter } from "../../contracts/storage-adapter.ts";
import { nameOf } from "../../contracts/storage-path.ts";
import { makeFolders } from "../wrappers/folders.ts";
import { ignoreMissing, listIfFolder } from "../wrappers/list-folder.ts";
import { mayHaveVersions, toVersionsFolder, toVersionsTree } from "./places.ts";
import { isVersion } from "./stored.ts";

/** How often a move begins again when a sweep has just removed the empty folder that it needs. */
const MAX_ATTEMPTS = 5;

/** Where the versions of something are. */
export interface VersionsPlace {
  readonly folder: string;
  /** The versions of a file are the files in the folder; those of the files below a folder are in its folders. */
  readonly members: "file" | "folder";
}

/** Returns where the versions of a file, or of all files below a folder, are. `undefined` if they are nowhere. */
export function toVersionsPlace(path: string, kind: "file" | "folder"): VersionsPlace | undefined {
  const folder = kind === "file" ? toVersionsFolder(path) : toVersionsTree(path);
  return folder === undefined ? undefined : { folder, members: kind };
}

/** Whether something is at a place. */
export async function hasMembers(storage: StorageAdapter, { folder, members }: VersionsPlace): Promise<boolean> {
  for await (const batch of listIfFolder(storage, folder)) if (batch.some(({ kind }) => kind === members)) return true;
  return false;
}

/** Returns the IDs at the place of a file. */
export async function idsAt(storage: StorageAdapter, { folder }: VersionsPlace): Promise<readonly string[]> {
  const ids: string[] = [];
  for await (const batch of listIfFolder(storage, folder)) {
    for (const member of batch) if (isVersion(member)) ids.push(member.name);
  }
  return ids;
}

/**
 * Moves what is at one place to another one, to which something may have come already. In one step if nothing has, and
 * nothing else is at the first place. `ids`: only these.
 */
export async function relocate(
  storage: StorageAdapter,
  from: VersionsPlace,
  to: VersionsPlace,
  ids?: readonly string[],
): Promise<void> {
  const isWhole = await hasOnly(storage, from, ids);
  if (isWhole && (await moveTo(storage, from.folder, to.folder, "folder"))) return;
  for await (const batch of listIfFolder(storage, from.folder)) {
    for (const { name, kind } of batch) {
      if (kind !== from.members || (ids !== undefined && !ids.includes(name))) continue;
      await relocateMember(storage, `${from.folder}/${name}`, `${to.folder}/${name}`, kind);
    }
  }
}

async function relocateMember(
  storage: StorageAdapter,
  from: string,
  to: string,
  kind: "file" | "folder",
): Promise<void> {
  if ((await moveTo(storage, from, to, kind)) || kind === "file") return;
  // Both places have such a folder.
  for await (const batch of listIfFolder(storage, from)) {
    for (const member of batch) {
      if (member.kind === "link") continue;
      await relocateMember(storage, `${from}/${member.name}`, `${to}/${member.name}`, member.kind);
    }
  }
}

/** Removes what is at a place for good. */
export async function dropVersions(storage: StorageAdapter, place: VersionsPlace): Promise<void> {
  const { folder, members } = place;
  if (await hasOnly(storage, place)) {
    await storage.remove(folder, { kind: "folder", permanent: true }).catch(ignoreMissing);
    return;
  }
  for await (const batch of listIfFolder(storage, folder)) {
    for (const { name, kind } of batch) {
      if (kind !== members) continue;
      await storage.remove(`${folder}/${name}`, { kind, permanent: true }).catch(ignoreMissing);
    }
  }
}

/** Whether the folder of a place has nothing but what belongs to the place. */
async function hasOnly(
  storage: StorageAdapter,
  { folder, members }: VersionsPlace,
  ids?: readonly string[],
): Promise<boolean> {
  // Only a folder whose name has the mark is shared by a file and a folder.
  if (members === "folder" && !mayHaveVersions(nameOf(folder))) return true;
  for await (const batch of listIfFolder(storage, folder)) {
    const isOther = batch.some(({ kind, name }) => kind !== members || (ids !== undefined && !ids.includes(name)));
    if (isOther) return false;
  }
  return true;
}

/** Moves a file or folder to a free place. Returns whether the place was free. What no longer exists is not moved. */
async function moveTo(storage: StorageAdapter, from: string, to: string, kind: "file" | "folder"): Promise<boolean> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await storage.move(from, to, { kind });
      return true;
    } catch (error) {
      if (hasCode(error, "already-exists")) return false;
      if (!hasCode(error, "parent-missing") || attempt === MAX_ATTEMPTS) {
        ignoreMissing(error);
        return true;
      }
      await makeFolders(storage, to.slice(0, to.lastIndexOf("/")));
    }
  }
}
