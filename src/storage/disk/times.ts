import { type BigIntStats, fsync } from "node:fs";
import { lutimes } from "node:fs/promises";
import { promisify } from "node:util";
import { type StorageEntry, StorageError } from "../../contracts/storage-adapter.ts";
import type { AttributeChanges } from "../../contracts/storage-attributes.ts";
import { changeProperties } from "../properties.ts";
import { mapSystemErrors } from "./errors.ts";
import { toEntry } from "./list.ts";
import { type OpenFolder, withNameLock } from "./open-folder.ts";
import { readProperties, withPropertiesMoved, writeProperties } from "./properties.ts";
import { closeFile } from "./system-calls.ts";

const sync = promisify(fsync);
const MICROSECONDS = 1_000_000;
const NANOSECONDS = 1_000_000_000n;
/** The last time that was given to a file, in microseconds since 1970. */
let last = 0;

/**
 * Returns a time for a file, in seconds since 1970, that no other file of this process has. Entity-tags need it: the
 * system counts time in steps of some milliseconds. A time that the client wants keeps its second, and has digits of
 * its own below it.
 */
export function nextTime(wanted?: Date): number {
  last = Math.max(last + 1, Date.now() * 1000);
  if (wanted === undefined) return last / MICROSECONDS;
  return Math.floor(wanted.getTime() / 1000) + (last % MICROSECONDS) / MICROSECONDS;
}

/**
 * Whether a file has the time that was set, to the second. File systems move a time that they cannot keep to the
 * nearest one that they can, and Node takes the current time in place of one before 1970: then two contents could get
 * one time.
 */
export function hasTime({ mtimeNs }: BigIntStats, time: number): boolean {
  return mtimeNs / NANOSECONDS === BigInt(Math.floor(time));
}

/**
 * Changes the time and the properties of a file or folder, and flushes them to the device on request. If the time
 * cannot be set, the properties stay as they were.
 * @throws StorageError `not-found`, also for a symlink; `no-space` for too many properties; `unsupported` for a time
 *   that the file system cannot keep.
 */
export async function changeMember(
  folder: OpenFolder,
  name: string,
  { modified, properties }: AttributeChanges,
  mustFlush: boolean,
): Promise<StorageEntry> {
  return withNameLock(folder, name, async () => {
    const { stats, entry } = await findMember(folder, name);
    const old = await readProperties(folder, stats);
    const wanted = properties === undefined ? old : changeProperties(old, properties);
    if (wanted !== old) await writeProperties(folder, stats, wanted, mustFlush);
    if (modified !== undefined) {
      try {
        await setMemberTime(folder, name, stats, modified, mustFlush && entry.kind === "file");
      } catch (error) {
        if (wanted !== old) await writeProperties(folder, stats, old, mustFlush);
        throw error;
      }
    }
    const after = await findMember(folder, name);
    // On some systems an earlier time also moves the time of creation, which is a part of the record's name.
    const [here, there] = [
      { folder, name, stats },
      { folder, name, stats: after.stats },
    ] as const;
    await withPropertiesMoved(here, there, { mustFlush }, async () => undefined);
    return wanted.size > 0 ? { ...after.entry, hasProperties: true } : after.entry;
  });
}

async function setMemberTime(
  folder: OpenFolder,
  name: string,
  { mtimeNs }: BigIntStats,
  modified: Date,
  mustFlush: boolean,
): Promise<void> {
  await folder.confirm();
  const time = nextTime(modified);
  if (time < 0) throw new StorageError("unsupported");
  await mapSystemErrors(lutimes(folder.at(name), time, time));
  const changed = await folder.lookUp(name, { hasLock: true });
  if (changed !== undefined && !hasTime(changed, time)) {
    const old = Number(mtimeNs / 1000n) / MICROSECONDS;
    await mapSystemErrors(lutimes(folder.at(name), old, old));
    throw new StorageError("unsupported");
  }
  if (mustFlush) await flush(folder, name);
}

/** Looks up a file or folder. The caller holds the lock of the name. @throws StorageError `not-found` */
async function findMember(
  folder: OpenFolder,
  name: string,
): Promise<{ readonly stats: BigIntStats; readonly entry: StorageEntry }> {
  const stats = await folder.lookUp(name, { hasLock: true });
  const entry = stats && toEntry(name, stats);
  if (stats === undefined || entry === undefined || entry.kind === "link") throw new StorageError("not-found");
  return { stats, entry };
}

async function flush(folder: OpenFolder, name: string): Promise<void> {
  const descriptor = await folder.openFile(name, 0);
  try {
    await mapSystemErrors(sync(descriptor));
  } finally {
    await closeFile(descriptor, { isQuick: true });
  }
}
