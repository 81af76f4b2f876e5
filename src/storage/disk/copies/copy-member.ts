import { type BigIntStats, constants } from "node:fs";
import { hasCode, type TransferOptions } from "../../../contracts/storage-adapter.ts";
import type { Properties } from "../../../contracts/storage-attributes.ts";
import { checkSource } from "../../conditions.ts";
import { toFileContent } from "../../file-content.ts";
import { mapErrorCode } from "../errors.ts";
import type { Place } from "../moves/steps.ts";
import type { NameCheck } from "../names.ts";
import type { OpenFolder } from "../open-folder.ts";
import { readProperties, removeProperties, writeProperties } from "../properties.ts";
import { readOpened } from "../read.ts";
import { releaseFile } from "../system-calls.ts";
import { type Durability, type HiddenFileOptions, writeHiddenMember } from "../write.ts";
import { cloneFile } from "./clone-file.ts";

/** How the members of a folder are copied. */
export interface MemberCopyOptions extends Pick<TransferOptions, "signal"> {
  readonly isValidName: NameCheck;
  readonly durability: Durability;
}

/** A folder that is copied, and the folder that becomes its copy. */
export interface FolderPair {
  readonly source: OpenFolder;
  readonly target: OpenFolder;
}

/** Copies a file. `stats` are its own if its folder has records of properties. */
export async function copyFile(
  pair: FolderPair,
  name: string,
  stats: BigIntStats | undefined,
  options: MemberCopyOptions,
): Promise<void> {
  await copyContent({ folder: pair.source, name }, { folder: pair.target, name }, options);
  await copyProperties(pair, name, stats, options);
}

/**
 * Copies the content of a file to a new file, which shares the blocks of the file if the file system can do that. The
 * new file gets the permissions of `previous`.
 */
export async function copyContent(
  from: Place,
  to: Place,
  { durability, signal }: Pick<MemberCopyOptions, "durability" | "signal">,
  { previous, ...conditions }: Pick<TransferOptions, "kind" | "ifMatch"> & HiddenFileOptions = {},
): Promise<void> {
  const descriptor = await from.folder.openFile(from.name, constants.O_RDONLY);
  const cloning = cloneFile(descriptor, to, { ...conditions, previous, durability, ...(signal && { signal }) });
  const isCloned = await cloning.catch(async (error: unknown) => {
    await releaseFile(descriptor);
    throw error;
  });
  if (isCloned) return releaseFile(descriptor);
  // A folder that has taken the place of the file meanwhile is not what is copied.
  const file = await mapErrorCode(readOpened(descriptor, from.name), "not-a-file", "not-found");
  const content = toFileContent(file);
  try {
    const { size } = checkSource(file.entry, conditions);
    const options = { size, previous, ...(signal && { signal }) };
    await writeHiddenMember(to.folder, to.name, content.chunks(), options, durability);
  } finally {
    await content.close();
  }
}

/** Gives the properties of a member to its copy. `stats` are its own if its folder has records of properties. */
export async function copyProperties(
  { source, target }: FolderPair,
  name: string,
  stats: BigIntStats | undefined,
  { durability }: Pick<MemberCopyOptions, "durability">,
): Promise<void> {
  if (stats === undefined) return;
  await giveProperties(target, name, await readProperties(source, stats), durability === "fsync");
}

/** Gives properties to a member that is not visible yet. */
export async function giveProperties(
  folder: OpenFolder,
  name: string,
  properties: Properties,
  mustFlush: boolean,
): Promise<void> {
  if (properties.size === 0) return;
  const stats = await folder.lookUp(name, { hasLock: true });
  if (stats !== undefined) await writeProperties(folder, stats, properties, mustFlush);
}

/** Removes the properties of a member that is not visible yet. */
export async function takeProperties(folder: OpenFolder, name: string): Promise<void> {
  const stats = await folder.lookUp(name, { hasLock: true });
  if (stats !== undefined) await removeProperties(folder, stats);
}

/** For `catch`: a member that disappears meanwhile is left out. */
export function ignoreNotFound(error: unknown): undefined {
  if (!hasCode(error, "not-found")) throw error;
  return undefined;
}
