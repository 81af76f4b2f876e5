import { mkdir, rename, rmdir } from "node:fs/promises";
import { StorageError } from "../../contracts/storage-adapter.ts";
import { mapSystemErrors, systemCode } from "./errors.ts";
import { findMember } from "./list.ts";
import { type OpenFolder, withNameLock } from "./open-folder.ts";
import { giveTo, type OwnerNumbers } from "./owner.ts";
import { createTemporaryFile, releaseTemporaryName } from "./temporary-files.ts";

const CODES = { ENOENT: "parent-missing", EINVAL: "bad-name" } as const;

/** Makes a folder of the process's own. @throws StorageError `already-exists`. */
export async function createFolderAt(folder: OpenFolder, name: string): Promise<void> {
  await folder.confirm();
  await mapSystemErrors(mkdir(folder.at(name)), CODES);
  await folder.confirm();
}

/**
 * Makes a folder that has its owner from the moment it is there: nobody finds it, or puts anything into it, before.
 * @throws StorageError `already-exists`, `denied` when the process may not give it to that owner; then nothing is made.
 */
export async function createOwnedFolder(folder: OpenFolder, name: string, owner: OwnerNumbers): Promise<void> {
  const temporary = createTemporaryFile();
  let isRemoved = true;
  try {
    await createFolderAt(folder, temporary);
    await giveTo(folder, temporary, owner);
    await withNameLock(folder, name, async () => {
      // The system's rename would replace a folder that is empty.
      if ((await findMember(folder, name, true)) !== undefined) throw new StorageError("already-exists");
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
