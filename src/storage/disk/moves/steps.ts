import type { BigIntStats } from "node:fs";
import { link, rename, unlink } from "node:fs/promises";
import { NO_HARD_LINKS } from "../commit.ts";
import { mapSystemErrors, systemCode, toStorageError } from "../errors.ts";
import type { OpenFolder } from "../open-folder.ts";
import type { MemberName } from "../system-calls.ts";

/** A name in an open folder. */
export interface Place {
  readonly folder: OpenFolder;
  readonly name: string;
}

/** What the steps can fail with, also if something was created at the new name meanwhile. */
const CODES = {
  EEXIST: "already-exists",
  ENOTEMPTY: "already-exists",
  ENOTDIR: "already-exists",
  EISDIR: "already-exists",
  ENOENT: "not-found",
  EINVAL: "denied",
} as const;

/** Whether two members are one file or folder. */
export function isSameFile(one: BigIntStats | undefined, other: BigIntStats | undefined): boolean {
  return one !== undefined && one.ino === other?.ino && one.dev === other.dev;
}

/** Looks up what is at a place, whose lock the caller holds. */
export function lookUpPlace({ folder, name }: Place): Promise<BigIntStats | undefined> {
  return folder.lookUp(name, { hasLock: true });
}

/** @throws the system's EXDEV */
export async function renameTo(source: MemberName, target: MemberName): Promise<void> {
  try {
    await rename(source, target);
  } catch (error) {
    throw systemCode(error) === "EXDEV" ? error : toStorageError(error, CODES);
  }
}

/** If both names are hard links to one file, the system's rename does nothing and leaves the old name. */
export async function renameOverFile({ folder, name }: Place, target: MemberName, found: BigIntStats): Promise<void> {
  const member = found.nlink > 1n ? await folder.lookUp(name, { hasLock: true }) : undefined;
  await (isSameFile(member, found)
    ? mapSystemErrors(unlink(folder.at(name)), CODES)
    : renameTo(folder.at(name), target));
}

/**
 * Moves a file in two steps that never replace anything, and of which one fails if another process moves the same file.
 * The system may report that a step has failed although it was taken. So the new name is removed only while the file
 * has another one. Returns `false` if the file system has no hard links.
 */
export async function hardLinkAndUnlink(from: Place, to: Place): Promise<boolean> {
  const [source, target] = [from.folder.at(from.name), to.folder.at(to.name)];
  const file = await lookUpPlace(from);
  try {
    await link(source, target);
  } catch (error) {
    const code = systemCode(error) ?? "";
    if (NO_HARD_LINKS.includes(code)) return false;
    const hasBoth =
      code !== "EEXIST" && isSameFile(await lookUpPlace(from), file) && isSameFile(await lookUpPlace(to), file);
    if (hasBoth) await unlink(target).catch(() => undefined);
    throw toStorageError(error, CODES);
  }
  try {
    await unlink(source);
  } catch (error) {
    const placed = await lookUpPlace(to);
    if (isSameFile(placed, file)) {
      // Another process that has moved the file has a name for it, too.
      const isOnlyName =
        systemCode(error) === "ENOENT" ? placed?.nlink === 1n : !isSameFile(await lookUpPlace(from), file);
      if (isOnlyName) return true;
      await unlink(target).catch(() => undefined);
    }
    throw toStorageError(error, CODES);
  }
  return true;
}
