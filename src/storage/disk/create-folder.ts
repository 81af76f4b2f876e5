import { mkdir, rename, rmdir } from "node:fs/promises";
import { StorageError } from "../../contracts/storage-adapter.ts";
import { mapSystemErrors, systemCode } from "./errors.ts";
import { type OpenFolder, withNameLock } from "./open-folder.ts";
import { giveTo, type OwnerNumbers } from "./owner.ts";
import { releaseTemporaryName, reserveTemporaryName } from "./temporary-files.ts";

const CODES = { ENOENT: "parent-missing", EINVAL: "bad-name" } as const;

/** Creates a folder that the process owns. @throws StorageError `already-exists`. */
export async function createFolderAt(folder: OpenFolder, name: string): Promise<void> {
  await folder.confirm();
  await mapSystemErrors(mkdir(folder.at(name)), CODES);
  await folder.confirm();
}

/**
 * Creates a folder that belongs to its owner before it appears under its name. Other users cannot find or fill it
 * earlier.
 * @throws StorageError `already-exists`, or `denied` if the process may not change the owner. No folder remains then.
 */
export async function createOwnedFolder(folder: OpenFolder, name: string, owner: OwnerNumbers): Promise<void> {
  const temporary = reserveTemporaryName();
  let isRemoved = true;
  try {
    await createFolderAt(folder, temporary);
    await giveTo(folder, temporary, owner);
    await withNameLock(folder, name, async () => {
      // The system call `rename` would replace an empty folder.
      if ((await folder.lookUp(name, { hasLock: true })) !== undefined) throw new StorageError("already-exists");
      await mapSystemErrors(rename(folder.at(temporary), folder.at(name)), { ...CODES, ENOTDIR: "already-exists" });
      await folder.confirm();
    });
  } catch (error) {
    isRemoved = await rmdir(folder.at(temporary)).then(
      () => true,
      (reason) => systemCode(reason) === "ENOENT",
    );
    throw error;
  } finally {
    releaseTemporaryName(temporary, isRemoved);
  }
}
