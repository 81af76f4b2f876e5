import { isStorageError, type Placement, StorageError, type TransferOptions } from "../../contracts/storage-adapter.ts";
import { toFileContent } from "../file-content.ts";
import { createFolderAt } from "./create-folder.ts";
import { readNames } from "./folder-names.ts";
import { statMember } from "./list.ts";
import { type Place, placeMember } from "./move.ts";
import type { NameCheck } from "./names.ts";
import { type OpenFolder, withNameLock } from "./open-folder.ts";
import { readMember } from "./read.ts";
import { removeFolder } from "./remove.ts";
import { releaseTemporaryName, reserveTemporaryName } from "./temporary-files.ts";
import { type Durability, writeMember } from "./write.ts";

/** How the members of a folder are copied. */
export interface CopyOptions extends Pick<TransferOptions, "replace" | "signal"> {
  readonly isValidName: NameCheck;
  readonly durability: Durability;
}

/**
 * Copies a folder to a place, all or nothing: first to a temporary folder beside it, which is then renamed. Links, and
 * members that disappear meanwhile, are left out.
 */
export async function copyFolderTo(source: OpenFolder, to: Place, options: CopyOptions): Promise<Placement> {
  const { folder, name } = to;
  const { replace = false } = options;
  if (!replace && (await folder.lookUp(name, false)) !== undefined) throw new StorageError("already-exists");
  const temporary = reserveTemporaryName();
  let isRemoved = true;
  try {
    await createFolderAt(folder, temporary);
    await copyInto(source, await folder.enter(temporary), options);
    return await withNameLock(folder, name, () => placeMember({ folder, name: temporary }, to, "folder", replace));
  } catch (error) {
    isRemoved = await removeFolder(folder, temporary).then(
      () => true,
      (reason) => isStorageError(reason) && reason.code === "not-found",
    );
    throw error;
  } finally {
    releaseTemporaryName(temporary, isRemoved);
  }
}

/** Copies the members of a folder, and closes the folder that they are copied to. */
async function copyInto(source: OpenFolder, target: OpenFolder, options: CopyOptions): Promise<void> {
  const { isValidName, durability, signal } = options;
  try {
    for await (const names of readNames(source, isValidName)) {
      for (const name of names) {
        signal?.throwIfAborted();
        await copyMember(source, target, name, options).catch(ignoreNotFound);
      }
    }
    if (durability === "fsync") await target.sync();
  } finally {
    target.close();
  }
}

async function copyMember(source: OpenFolder, target: OpenFolder, name: string, options: CopyOptions): Promise<void> {
  const kind = (await statMember(source, name))?.kind;
  if (kind === "file") await copyFile(source, target, name, options);
  if (kind !== "folder") return;
  const inner = await source.enter(name);
  try {
    await createFolderAt(target, name);
    await copyInto(inner, await target.enter(name), options);
  } finally {
    inner.close();
  }
}

async function copyFile(
  source: OpenFolder,
  target: OpenFolder,
  name: string,
  { durability, signal }: CopyOptions,
): Promise<void> {
  const file = await readMember(source, name, name);
  const content = toFileContent(file);
  try {
    const options = { size: file.entry.size, ...(signal && { signal }) };
    await writeMember(target, name, content.chunks(), options, durability);
  } finally {
    await content.close();
  }
}

function ignoreNotFound(error: unknown): void {
  if (!isStorageError(error) || error.code !== "not-found") throw error;
}
