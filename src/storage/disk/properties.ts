import type { BigIntStats } from "node:fs";
import { mkdir, rmdir, unlink } from "node:fs/promises";
import { hasCode, type StorageEntry } from "../../contracts/storage-adapter.ts";
import type { Properties } from "../../contracts/storage-attributes.ts";
import { NO_PROPERTIES } from "../properties.ts";
import { ignoreErrors, mapSystemErrors, mapSystemErrorsSync, undefinedIfMissing } from "./errors.ts";
import { readGuard } from "./latency-guard.ts";
import { RECORDS_FOLDER } from "./names.ts";
import type { OpenFolder } from "./open-folder.ts";
import { readTextFile, replaceTextFile } from "./text-files.ts";

/*
 * The properties of the members of a folder are in the folder `.fileferry-properties` in it, a record for each member.
 * The name of a record is the identity of the member, not its name. So a record never belongs to another file that
 * another program puts at the name of a member, and a rename in a folder needs no change.
 */

/** 64 KiB of properties are never more than this as JSON. */
const MAX_RECORD_BYTES = 1_048_576;
/** How often a record is written again because another removal took the empty folder of records away. */
const MAX_ATTEMPTS = 20;

/**
 * The name of a member's record: its inode and the time when it was created, because a system gives the inode of a
 * removed file to another one. The root of a storage has its record in its own folder.
 */
function toRecordName({ ino, birthtimeNs }: BigIntStats): string {
  return `${ino.toString(16)}-${birthtimeNs.toString(16)}`;
}

/** Opens the records of a folder; `undefined` if there are none. The caller closes them. */
export async function openRecords(folder: OpenFolder): Promise<OpenFolder | undefined> {
  return (await hasRecords(folder)) ? folder.enter(RECORDS_FOLDER).catch(undefinedIfMissing) : undefined;
}

/** Whether a folder has records. */
export async function hasRecords(folder: OpenFolder): Promise<boolean> {
  const { lookSync } = folder;
  if (lookSync !== undefined && readGuard.isFast())
    return readGuard.timed(() => mapSystemErrorsSync(() => lookSync(RECORDS_FOLDER))) !== undefined;
  return (await folder.lookUp(RECORDS_FOLDER)) !== undefined;
}

/** Whether a member has a record. */
export async function hasRecord(records: OpenFolder, stats: BigIntStats): Promise<boolean> {
  return (await records.lookUp(toRecordName(stats))) !== undefined;
}

/** As {@link hasRecord}, but synchronous, for fast disks. */
export function hasRecordSync({ lookSync }: OpenFolder, stats: BigIntStats): boolean {
  return mapSystemErrorsSync(() => lookSync?.(toRecordName(stats))) !== undefined;
}

/** Adds to the entry of a member whether it has properties. */
export async function withPropertiesMark(
  folder: OpenFolder,
  stats: BigIntStats,
  entry: StorageEntry,
): Promise<StorageEntry> {
  const records = entry.kind === "link" ? undefined : await openRecords(folder);
  if (records === undefined) return entry;
  try {
    return (await hasRecord(records, stats)) ? { ...entry, hasProperties: true } : entry;
  } finally {
    records.close();
  }
}

/** Reads the properties of a member. */
export async function readProperties(folder: OpenFolder, stats: BigIntStats): Promise<Properties> {
  const records = await openRecords(folder);
  if (records === undefined) return NO_PROPERTIES;
  try {
    return (await readRecord(records, toRecordName(stats))) ?? NO_PROPERTIES;
  } finally {
    records.close();
  }
}

/** Stores the properties of a member in place of all that it had. `mustFlush`: they must survive a power failure. */
export async function writeProperties(
  folder: OpenFolder,
  stats: BigIntStats,
  properties: Properties,
  mustFlush: boolean,
): Promise<void> {
  if (properties.size === 0) return removeProperties(folder, stats);
  for (let attempt = 1; ; attempt += 1) {
    try {
      await ignoreErrors(mkdir(folder.at(RECORDS_FOLDER)), "EEXIST");
      return await writeInto(folder, toRecordName(stats), properties, mustFlush);
    } catch (error) {
      const isGone = hasCode(error, "not-found");
      if (!isGone || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

async function writeInto(folder: OpenFolder, name: string, properties: Properties, mustFlush: boolean): Promise<void> {
  const records = await folder.enter(RECORDS_FOLDER);
  try {
    await replaceTextFile(records, name, JSON.stringify([...properties]), { mustFlush });
    if (mustFlush) await Promise.all([records.sync(), folder.sync()]);
  } finally {
    records.close();
  }
}

/** Removes the properties of a member, and the folder of records if it is empty now. */
export async function removeProperties(folder: OpenFolder, stats: BigIntStats): Promise<void> {
  const records = await openRecords(folder);
  if (records === undefined) return;
  try {
    await records.confirm();
    await mapSystemErrors(ignoreErrors(unlink(records.at(toRecordName(stats))), "ENOENT"));
  } finally {
    records.close();
  }
  await ignoreErrors(rmdir(folder.at(RECORDS_FOLDER)), "ENOENT", "ENOTEMPTY", "EEXIST", "EPERM", "EBUSY");
}

/** What another program has written there is not shown. */
async function readRecord(records: OpenFolder, name: string): Promise<Properties | undefined> {
  const text = await readTextFile(records, name, MAX_RECORD_BYTES);
  return text === undefined ? undefined : parseRecord(text);
}

function parseRecord(text: string): Properties | undefined {
  try {
    const entries: unknown = JSON.parse(text);
    return Array.isArray(entries) && entries.every(isPair) ? new Map(entries) : undefined;
  } catch {
    return undefined;
  }
}

function isPair(value: unknown): value is readonly [string, string] {
  return Array.isArray(value) && value.length === 2 && value.every((text) => typeof text === "string");
}

/** A member of a folder that is there, or will be. */
export interface PropertyOwner {
  readonly folder: OpenFolder;
  readonly name: string;
  readonly stats: BigIntStats;
}

/**
 * Runs a step that replaces or moves a member, and takes its properties along. The properties are copied to the new
 * place or file before the step, and the old ones are removed after it. If the process ends in between, each file has
 * its own properties, or those that the step gives it. `replaced` is what the step removes from the new place: its
 * properties are removed too. The caller holds the locks of both names.
 */
export async function withPropertiesMoved<T>(
  from: PropertyOwner,
  to: PropertyOwner,
  { mustFlush, replaced }: { readonly mustFlush: boolean; readonly replaced?: BigIntStats | undefined },
  step: () => Promise<T>,
): Promise<T> {
  const isSame = from.folder.identity() === to.folder.identity() && isSameRecord(from.stats, to.stats);
  const properties = isSame ? NO_PROPERTIES : await readProperties(from.folder, from.stats);
  // Without properties, an earlier move may have left a record that now would belong to the member again.
  if (!isSame) await writeProperties(to.folder, to.stats, properties, mustFlush);
  let result: T;
  try {
    result = await step();
  } catch (error) {
    // The system may report that a step has failed although it was taken.
    const isTaken = isSame || (await isThere(to).catch(() => true));
    if (!isTaken) await removeProperties(to.folder, to.stats).catch(() => undefined);
    throw error;
  }
  // The step is done. A record that stays belongs to nothing, and is never shown.
  if (properties.size > 0) await removeProperties(from.folder, from.stats).catch(() => undefined);
  if (replaced !== undefined && !isSameRecord(replaced, to.stats) && !isSameRecord(replaced, from.stats))
    await removeProperties(to.folder, replaced).catch(() => undefined);
  return result;
}

async function isThere({ folder, name, stats }: PropertyOwner): Promise<boolean> {
  const found = await folder.lookUp(name, { hasLock: true });
  return found !== undefined && isSameRecord(found, stats);
}

function isSameRecord(one: BigIntStats, other: BigIntStats): boolean {
  return toRecordName(one) === toRecordName(other);
}
