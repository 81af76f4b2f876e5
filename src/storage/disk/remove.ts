import type { Dirent } from "node:fs";
import { lstat, opendir, rmdir, unlink } from "node:fs/promises";
import { StorageError } from "../../contracts/storage-adapter.ts";
import { ignoreErrors, mapSystemErrors, systemCode, toStorageError, undefinedIfMissing } from "./errors.ts";
import type { OpenFolder } from "./open-folder.ts";
import type { MemberName } from "./system-calls.ts";

/** A folder on the way from the top to where the removal is. */
interface Level {
  readonly name: MemberName;
  /** Identity of the folder that holds it. */
  readonly holder: string;
  /** The folders in it that are still to be removed. */
  readonly folders: MemberName[];
}

/** How many files are unlinked at once. */
const BATCH = 16;
/** How often folders are emptied again, because members came meanwhile, before the removal gives up. */
const MAX_REPEATS = 100;

/**
 * Removes a folder with everything under it; links themselves, never their targets. It holds one folder open at
 * whatever depth, and on the way up makes sure that it comes back to the folder it came from: one that is moved
 * elsewhere meanwhile does not take the removal with it.
 * @throws StorageError `not-found` where it is no folder any more, before anything is removed.
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
        // Who removes the same tree meanwhile may have removed this folder.
        await removeFiles(folder, below.folders).catch(undefinedIfMissing);
        continue;
      }
      way.pop();
      const holder = way.at(-1);
      if (holder === undefined) return;
      folder = await leave(folder, level.holder);
      if (await isRemoved(folder, level.name)) continue;
      repeats += 1;
      if (repeats > MAX_REPEATS) throw new StorageError("unavailable", "Members keep coming.");
      holder.folders.push(level.name);
    }
  } finally {
    folder.close();
  }
}

async function enterIfFolder(folder: OpenFolder, name: MemberName): Promise<OpenFolder | undefined> {
  return folder.enter(name).catch(undefinedIfMissing);
}

async function leave(folder: OpenFolder, holder: string): Promise<OpenFolder> {
  const above = await folder.leave();
  if (identityOf(above) !== holder) {
    above.close();
    throw new StorageError("unavailable", "A folder was moved while it was removed.");
  }
  folder.close();
  return above;
}

/** The identity of a folder that nobody else would close. */
function identityOf(folder: OpenFolder): string {
  try {
    return folder.identity();
  } catch (error) {
    folder.close();
    throw error;
  }
}

/** Removes a folder that should be empty by now; `false` when it is not. */
async function isRemoved(holder: OpenFolder, name: MemberName): Promise<boolean> {
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

/** Removes whatever is in a folder but other folders, whose names it adds to `folders`. */
async function removeFiles(folder: OpenFolder, folders: MemberName[]): Promise<void> {
  await folder.confirm();
  // As bytes: also names that are not UTF-8 are removed. The types of Node know texts only.
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

/** Bun gives the bare names of members where they are bytes. */
async function isFolder(folder: OpenFolder, member: Dirent | Buffer): Promise<boolean> {
  if ("isDirectory" in member) return member.isDirectory();
  const stats = await ignoreErrors(lstat(folder.at(member)), "ENOENT");
  return stats?.isDirectory() ?? false;
}

async function unlinkAll(folder: OpenFolder, files: readonly MemberName[]): Promise<void> {
  // EISDIR: a folder has taken its place, and is met when the one that holds it turns out not to be empty.
  const unlinked = files.map((name) => ignoreErrors(unlink(folder.at(name)), "ENOENT", "EISDIR"));
  // All of them, also when one fails: none may come late, to a closed descriptor that is another folder's by then.
  const failure = (await Promise.allSettled(unlinked)).find(({ status }) => status === "rejected");
  if (failure?.status === "rejected") throw toStorageError(failure.reason);
  await folder.confirm();
}
