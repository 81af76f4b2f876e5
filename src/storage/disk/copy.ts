import { isStorageError, type Placement, StorageError, type TransferOptions } from "../../contracts/storage-adapter.ts";
import type { Properties } from "../../contracts/storage-attributes.ts";
import { toFileContent } from "../file-content.ts";
import { createFolderAt } from "./create-folder.ts";
import { readNames } from "./folder-names.ts";
import { toEntry } from "./list.ts";
import { type Place, placeMember } from "./move.ts";
import type { NameCheck } from "./names.ts";
import { type OpenFolder, withNameLock } from "./open-folder.ts";
import { readProperties, writeProperties } from "./properties.ts";
import { readMember } from "./read.ts";
import { removeFolder } from "./remove.ts";
import { releaseTemporaryName, reserveTemporaryName } from "./temporary-files.ts";
import { type Durability, writeMember } from "./write.ts";

/** How the members of a folder are copied. */
export interface CopyOptions extends Pick<TransferOptions, "replace" | "signal"> {
  readonly isValidName: NameCheck;
  readonly durability: Durability;
  /** Those of the folder itself. */
  readonly properties: Properties;
}

/** What copies the members of a folder. */
type MemberCopyOptions = Omit<CopyOptions, "properties">;

/**
 * Copies a folder to a place, all or nothing: first to a temporary folder next to it, which is then renamed. Links, and
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
    const isFlushed = options.durability === "fsync";
    if (options.properties.size > 0) await giveProperties(folder, temporary, options.properties, isFlushed);
    const from = { folder, name: temporary };
    return await withNameLock(folder, name, () => placeMember(from, to, "folder", { replace, isFlushed }));
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
async function copyInto(source: OpenFolder, target: OpenFolder, options: MemberCopyOptions): Promise<void> {
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

async function copyMember(
  source: OpenFolder,
  target: OpenFolder,
  name: string,
  options: MemberCopyOptions,
): Promise<void> {
  const stats = await source.lookUp(name, false);
  const kind = stats && toEntry(name, stats)?.kind;
  if (stats === undefined || (kind !== "file" && kind !== "folder")) return;
  await (kind === "file" ? copyFile(source, target, name, options) : copyFolder(source, target, name, options));
  const properties = await readProperties(source, stats);
  if (properties.size > 0) await giveProperties(target, name, properties, options.durability === "fsync");
}

async function copyFolder(
  source: OpenFolder,
  target: OpenFolder,
  name: string,
  options: MemberCopyOptions,
): Promise<void> {
  const inner = await source.enter(name);
  try {
    await createFolderAt(target, name);
    await copyInto(inner, await target.enter(name), options);
  } finally {
    inner.close();
  }
}

/** Gives properties to a member that is not visible yet. */
async function giveProperties(
  folder: OpenFolder,
  name: string,
  properties: Properties,
  isFlushed: boolean,
): Promise<void> {
  const stats = await folder.lookUp(name, true);
  if (stats !== undefined) await writeProperties(folder, stats, properties, isFlushed);
}

async function copyFile(
  source: OpenFolder,
  target: OpenFolder,
  name: string,
  { durability, signal }: MemberCopyOptions,
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
