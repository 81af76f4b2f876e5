import type { BigIntStats } from "node:fs";
import { link, unlink } from "node:fs/promises";
import { StorageError, type WriteOptions } from "../../contracts/storage-adapter.ts";
import { meetsConditions } from "../conditions.ts";
import { ignoreErrors, mapErrorCode, mapSystemErrors, systemCode } from "./errors.ts";
import { findMember, toEntry } from "./list.ts";
import { type OpenFolder, withNameLock } from "./open-folder.ts";
import { renameMember, SMALL_BYTES } from "./system-calls.ts";

/**
 * What file systems without hard links say, or of a file that has as many as it may; EISDIR on Windows. EACCES is what Android says, which forbids them: the folder
 * is not meant, as the temporary file was made in it just now. Anything else has failed.
 */
const NO_LINKS = ["EPERM", "EACCES", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK", "EXDEV", "EISDIR"];

/**
 * What stands where a write will go, of whatever kind but a folder. `hasLock`: as for `OpenFolder.look`.
 * @throws StorageError `not-a-file` on a folder, `precondition-failed` where the conditions are not met.
 */
export async function checkTarget(
  folder: OpenFolder,
  name: string,
  conditions: WriteOptions,
  hasLock = false,
): Promise<BigIntStats | undefined> {
  const found = await findMember(folder, name, hasLock);
  const entry = found && toEntry(name, found);
  if (entry?.kind === "folder") throw new StorageError("not-a-file");
  if (!meetsConditions(entry?.etag, conditions)) throw new StorageError("precondition-failed");
  return found;
}

/**
 * Gives the temporary file its name, in turn, if the conditions still hold; what had the name is gone. `"linked"`
 * when it has its temporary name still. `isSettled`: the system has nothing left to do for its bytes.
 */
export async function exchange(
  folder: OpenFolder,
  temporary: string,
  name: string,
  options: WriteOptions,
  isSettled: boolean,
): Promise<"renamed" | "linked"> {
  return withNameLock(folder, name, async () => {
    const found = await checkTarget(folder, name, options, true);
    options.signal?.throwIfAborted();
    await folder.confirm();
    const mustBeNew = options.ifNoneMatch === "*" && found === undefined;
    if (mustBeNew && (await linkUnlessTaken(folder, temporary, name))) return "linked";
    const isSmall = isSettled && (found === undefined || found.size <= SMALL_BYTES);
    await mapSystemErrors(renameMember(folder.at(temporary), folder.at(name), isSmall), {
      ENOENT: "parent-missing",
      ENOTDIR: "not-a-file",
      EINVAL: "bad-name",
    });
    await folder.confirm();
    return "renamed";
  });
}

/**
 * Removes what is no folder, in turn, once `judge` has found nothing against it there.
 * @throws StorageError `not-found` where a folder has taken its place: the system unlinks none, and says EPERM of it outside of Linux.
 */
export async function removeFile(folder: OpenFolder, name: string, checkAgain?: () => Promise<unknown>): Promise<void> {
  const removed = withNameLock(folder, name, async () => {
    await checkAgain?.();
    await folder.confirm();
    const isFolder = async () => (await findMember(folder, name, true))?.isDirectory() ?? false;
    await unlink(folder.at(name)).catch(async (error: unknown) => {
      throw systemCode(error) === "EPERM" && (await isFolder()) ? new StorageError("not-a-file") : error;
    });
    await folder.confirm();
  });
  await mapErrorCode(mapSystemErrors(removed), "not-a-file", "not-found");
}

/**
 * Makes the temporary file known by its name also, as one step among all processes that share the disk.
 * `false` where the file system has no hard links.
 */
async function linkUnlessTaken(folder: OpenFolder, temporary: string, name: string): Promise<boolean> {
  const linked = link(folder.at(temporary), folder.at(name)).then(() => true);
  const codes = { EEXIST: "precondition-failed", ENOENT: "parent-missing", EINVAL: "bad-name" } as const;
  return (await mapSystemErrors(ignoreErrors(linked, ...NO_LINKS), codes)) ?? false;
}
