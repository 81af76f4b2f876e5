import { fsync } from "node:fs";
import { lutimes } from "node:fs/promises";
import { promisify } from "node:util";
import { type StorageEntry, StorageError } from "../../contracts/storage-adapter.ts";
import type { AttributeChanges } from "../../contracts/storage-attributes.ts";
import { mapSystemErrors } from "./errors.ts";
import { statMember } from "./list.ts";
import { type OpenFolder, withNameLock } from "./open-folder.ts";
import { closeFile } from "./system-calls.ts";

const sync = promisify(fsync);
const MICROSECONDS = 1_000_000;
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
 * Changes the time of a file or folder, and flushes it to the device on request.
 * @throws StorageError `not-found`, also for a link; `unsupported` for properties.
 */
export async function changeMember(
  folder: OpenFolder,
  name: string,
  { modified, properties }: AttributeChanges,
  isFlushed: boolean,
): Promise<StorageEntry> {
  return withNameLock(folder, name, async () => {
    const before = await findMember(folder, name);
    if (properties !== undefined && properties.size > 0) throw new StorageError("unsupported");
    if (modified === undefined) return before;
    await folder.confirm();
    const time = nextTime(modified);
    await mapSystemErrors(lutimes(folder.at(name), time, time));
    if (isFlushed && before.kind === "file") await flush(folder, name);
    return findMember(folder, name);
  });
}

/** Returns the entry of a file or folder. The caller holds the lock of the name. @throws StorageError `not-found` */
async function findMember(folder: OpenFolder, name: string): Promise<StorageEntry> {
  const entry = await statMember(folder, name, true);
  if (entry === undefined || entry.kind === "link") throw new StorageError("not-found");
  return entry;
}

async function flush(folder: OpenFolder, name: string): Promise<void> {
  const descriptor = await folder.openFile(name, 0);
  try {
    await mapSystemErrors(sync(descriptor));
  } finally {
    await closeFile(descriptor, true);
  }
}
