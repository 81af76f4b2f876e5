import type { Dirent } from "node:fs";
import { lstat, opendir, rmdir, unlink } from "node:fs/promises";
import { StorageError } from "../../contracts/storage-adapter.ts";
import { ignoreErrors, mapSystemErrors, systemCode, toStorageError, undefinedIfMissing } from "./errors.ts";
import { isOwnName } from "./names.ts";
import { leaveFor, type OpenFolder, withFolder } from "./open-folder.ts";
import type { MemberName } from "./system-calls.ts";

/** A folder on the way from the top folder to the folder that is being emptied. */
interface Level {
  readonly name: MemberName;
  /** Identity of its parent folder. */
  readonly holder: string;
  /** Its subfolders that still have to be removed. */
  readonly folders: MemberName[];
}

/** How many files are unlinked in parallel. */
const BATCH = 16;
/** How often the removal empties folders again because new members appeared, before it gives up. */
const MAX_REPEATS = 100;

/**
 * Removes a folder with everything in it. Symlinks are removed, never their targets.
 *
 * It keeps one folder open at any depth. On the way up it checks that it returns to the folder that it came from, so
 * that the removal does not continue elsewhere if another process moves a folder meanwhile.
 * @throws StorageError `not-found`, before anything is removed, if the member is no longer a folder.
 */
export async function removeFolder(parent: OpenFolder, name: string): Promise<void> {
  let repeats = 0;
  let folder = await parent.enter(".");
  const way: Level[] = [{ name: ".", holder: "", folders: [name] }];
  try {
    for (let level = way.at(-1); level !== undefined; level = way.at(-1)) {
      const next = level.folders.pop();
      if (next !== undefined) {
        const below: Level = { name: next, holder: folder.identity(), folders: [] };
        const child = await enterIfFolder(folder, next);
        if (child === undefined && way.length === 1 && repeats === 0) throw new StorageError("not-found");
        if (child === undefined) continue;
        folder.close();
        folder = child;
        way.push(below);
        // Another removal of the same tree may already have removed this folder.
        await removeFiles(folder, below.folders).catch(undefinedIfMissing);
        continue;
      }
      way.pop();
      const holder = way.at(-1);
      if (holder === undefined) return;
      const above = await leaveFor(folder, level.holder);
      folder.close();
      folder = above;
      if (await removeIfEmpty(folder, level.name)) continue;
      repeats += 1;
      if (repeats > MAX_REPEATS) throw new StorageError("unavailable", "New members keep appearing in a folder.");
      holder.folders.push(level.name);
    }
  } finally {
    folder.close();
  }
}

/**
 * Checks that a folder has nothing in it but symlinks and what the storage keeps there. Members that the storage does
 * not show count, too.
 * @throws StorageError `precondition-failed`
 */
export async function checkEmpty(parent: OpenFolder, name: string): Promise<void> {
  await withFolder(parent.enter(name), async (folder) => {
    for await (const member of await opendir(String(folder.at(".")))) {
      if (!isOwnName(member.name) && !member.isSymbolicLink()) throw new StorageError("precondition-failed");
    }
  });
}

async function enterIfFolder(folder: OpenFolder, name: MemberName): Promise<OpenFolder | undefined> {
  return folder.enter(name).catch(undefinedIfMissing);
}

/** Removes a folder that should be empty. Returns `false` if it is not empty or not a folder. */
async function removeIfEmpty(holder: OpenFolder, name: MemberName): Promise<boolean> {
  await holder.confirm();
  try {
    await rmdir(holder.at(name));
    return true;
  } catch (error) {
    const code = systemCode(error) ?? "";
    if (code === "ENOENT") return true;
    if (["ENOTEMPTY", "EEXIST", "ENOTDIR"].includes(code)) return false;
    throw toStorageError(error);
  }
}

/** Removes all members of a folder except subfolders, whose names it adds to `folders`. */
async function removeFiles(folder: OpenFolder, folders: MemberName[]): Promise<void> {
  await folder.confirm();
  // Names are read as bytes, so that names that are not UTF-8 can be removed too. Node's types only know strings.
  const options = { encoding: "buffer" as BufferEncoding, bufferSize: 8 * BATCH };
  let files: MemberName[] = [];
  for await (const member of await mapSystemErrors(opendir(folder.at(".") as string, options))) {
    const name = "name" in member ? member.name : (member as Buffer);
    ((await isFolder(folder, member)) ? folders : files).push(name);
    if (files.length < BATCH) continue;
    await unlinkAll(folder, files);
    files = [];
  }
  await unlinkAll(folder, files);
}

/** Bun returns plain names instead of `Dirent` objects if names are read as bytes. */
async function isFolder(folder: OpenFolder, member: Dirent | Buffer): Promise<boolean> {
  if ("isDirectory" in member) return member.isDirectory();
  const stats = await ignoreErrors(lstat(folder.at(member)), "ENOENT");
  return stats?.isDirectory() ?? false;
}

async function unlinkAll(folder: OpenFolder, files: readonly MemberName[]): Promise<void> {
  // EISDIR: a folder has replaced the file. It is found when its parent turns out not to be empty.
  const unlinked = files.map((name) => ignoreErrors(unlink(folder.at(name)), "ENOENT", "EISDIR"));
  // Wait for all calls, even if one fails. A late call could use a closed descriptor that already belongs to another
  // folder.
  const failure = (await Promise.allSettled(unlinked)).find(({ status }) => status === "rejected");
  if (failure?.status === "rejected") throw toStorageError(failure.reason);
  await folder.confirm();
}

/**
 * Removes a file. Returns whether there is none now, even if there never was one, or if another process has removed it.
 * Never rejects; the clean-up removes what is left.
 */
export async function tryUnlink(folder: OpenFolder, name: string): Promise<boolean> {
  return unlink(folder.at(name)).then(
    () => true,
    (error: unknown) => systemCode(error) === "ENOENT",
  );
}
