import type { BigIntStats } from "node:fs";
import { isStorageError, type Placement, StorageError, type TransferOptions } from "../../contracts/storage-adapter.ts";
import type { Properties } from "../../contracts/storage-attributes.ts";
import { inParallel } from "../../platform/in-parallel.ts";
import { toFileContent } from "../file-content.ts";
import { createFolderAt } from "./create-folder.ts";
import { readNames } from "./folder-names.ts";
import { toEntry } from "./list.ts";
import { type Place, placeMember } from "./move.ts";
import type { NameCheck } from "./names.ts";
import { type OpenFolder, withNameLock } from "./open-folder.ts";
import { hasRecords, readProperties, writeProperties } from "./properties.ts";
import { readMember } from "./read.ts";
import { removeFolder } from "./remove.ts";
import { releaseTemporaryName, reserveTemporaryName } from "./temporary-files.ts";
import { type Durability, writeHiddenMember } from "./write.ts";

/**
 * How many files of a copy are written in parallel: the system flushes them together. Node makes such calls in four
 * threads, so with more files other requests would wait for a thread.
 */
const MAX_PARALLEL = 4;

/** How the members of a folder are copied. */
export interface CopyOptions extends Pick<TransferOptions, "replace" | "signal"> {
  readonly isValidName: NameCheck;
  readonly durability: Durability;
  /** Those of the folder itself. */
  readonly properties: Properties;
}

/** What copies the members of a folder. */
type MemberCopyOptions = Omit<CopyOptions, "properties">;

/** A file or folder in a folder that is copied. */
interface Member {
  readonly name: string;
  readonly stats: BigIntStats;
  /** Its folder has records of properties. */
  readonly mayHaveProperties: boolean;
}

/** A folder that is copied, and the folder that becomes its copy. */
interface FolderPair {
  readonly source: OpenFolder;
  readonly target: OpenFolder;
}

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
    await copyInto({ source, target: await folder.enter(temporary) }, options);
    const isFlushed = options.durability === "fsync";
    await giveProperties(folder, temporary, options.properties, isFlushed);
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
async function copyInto(pair: FolderPair, options: MemberCopyOptions): Promise<void> {
  const { isValidName, durability, signal } = options;
  try {
    for await (const names of readNames(pair.source, isValidName)) {
      const mayHaveProperties = await hasRecords(pair.source);
      const folders: Member[] = [];
      await inParallel(names, { most: MAX_PARALLEL, signal }, async (name, ownSignal) => {
        const stats = await pair.source.lookUp(name, false);
        const kind = stats && toEntry(name, stats)?.kind;
        if (stats === undefined || (kind !== "file" && kind !== "folder")) return;
        const member = { name, stats, mayHaveProperties };
        if (kind === "folder") folders.push(member);
        else await copyFile(pair, member, { ...options, signal: ownSignal }).catch(ignoreNotFound);
      });
      // One after the other: in parallel, their number would grow with each level of the tree.
      for (const folder of folders) {
        signal?.throwIfAborted();
        await copyFolder(pair, folder, options).catch(ignoreNotFound);
      }
    }
    if (durability === "fsync") await pair.target.sync();
  } finally {
    pair.target.close();
  }
}

async function copyFolder({ source, target }: FolderPair, member: Member, options: MemberCopyOptions): Promise<void> {
  const { name } = member;
  const inner = await source.enter(name);
  try {
    await createFolderAt(target, name);
    await copyInto({ source: inner, target: await target.enter(name) }, options);
  } finally {
    inner.close();
  }
  await copyProperties({ source, target }, member, options);
}

async function copyFile(pair: FolderPair, member: Member, options: MemberCopyOptions): Promise<void> {
  const { durability, signal } = options;
  const { name } = member;
  const file = await readMember(pair.source, name, name);
  const content = toFileContent(file);
  try {
    const { size } = file.entry;
    await writeHiddenMember(pair.target, name, content.chunks(), { size, ...(signal && { signal }) }, durability);
  } finally {
    await content.close();
  }
  await copyProperties(pair, member, options);
}

async function copyProperties(pair: FolderPair, member: Member, { durability }: MemberCopyOptions): Promise<void> {
  if (!member.mayHaveProperties) return;
  const properties = await readProperties(pair.source, member.stats);
  await giveProperties(pair.target, member.name, properties, durability === "fsync");
}

/** Gives properties to a member that is not visible yet. */
async function giveProperties(
  folder: OpenFolder,
  name: string,
  properties: Properties,
  isFlushed: boolean,
): Promise<void> {
  if (properties.size === 0) return;
  const stats = await folder.lookUp(name, true);
  if (stats !== undefined) await writeProperties(folder, stats, properties, isFlushed);
}

function ignoreNotFound(error: unknown): void {
  if (!isStorageError(error) || error.code !== "not-found") throw error;
}
