import type { BigIntStats } from "node:fs";
import { compareNames } from "../../contracts/member-names.ts";
import type { ListOptions, StorageEntry } from "../../contracts/storage-adapter.ts";
import { createSmallest } from "../../platform/smallest.ts";
import { readNames } from "./folder-names.ts";
import { readGuard } from "./latency-guard.ts";
import type { NameCheck } from "./names.ts";
import type { LookUpOptions, OpenFolder } from "./open-folder.ts";
import { hasRecordSync, openRecords, withPropertiesMark } from "./properties.ts";

const MAX_TIME = 8.64e15;
/** How long synchronous calls of a listing may block other requests, in milliseconds. */
const SLICE_MS = 2;
/** How many asynchronous `lstat` calls run in parallel. */
const MAX_PARALLEL = 32;

/** Returns the entry of a member, a symlink as itself. */
export async function statMember(
  folder: OpenFolder,
  name: string,
  options?: LookUpOptions,
): Promise<StorageEntry | undefined> {
  const stats = await folder.lookUp(name, options);
  return stats && toEntry(name, stats);
}

/** As {@link statMember}, and says whether the member has properties. */
export async function describeMember(
  folder: OpenFolder,
  name: string,
  options?: LookUpOptions,
): Promise<StorageEntry | undefined> {
  const stats = await folder.lookUp(name, options);
  const entry = stats && toEntry(name, stats);
  return entry && withPropertiesMark(folder, stats, entry);
}

/**
 * Converts stats to the entry of a file, folder or symlink. Returns `undefined` for pipes, sockets and devices, which
 * the storage does not show.
 */
export function toEntry(name: string, stats: BigIntStats): StorageEntry | undefined {
  // Some file systems have times outside the range of a Date (ECMA-262 21.4.1.1).
  const milliseconds = Number(stats.mtimeNs / 1_000_000n);
  const modified = new Date(Math.max(-MAX_TIME, Math.min(milliseconds, MAX_TIME)));
  if (stats.isDirectory()) return { name, kind: "folder", size: 0, modified };
  if (stats.isSymbolicLink()) return { name, kind: "link", size: 0, modified };
  if (!stats.isFile()) return undefined;
  return { name, kind: "file", size: Number(stats.size), modified, etag: toEntityTag(stats) };
}

/** The tag is strong because every write creates a new file with a unique time (see `write.ts`). */
function toEntityTag({ ino, size, mtimeNs }: BigIntStats): string {
  return `"${ino.toString(16)}-${size.toString(16)}-${mtimeNs.toString(16)}"`;
}

/**
 * Yields the members of a folder with valid names in batches, in the order of the disk. The first batch is empty: it
 * shows that the folder can be listed. Removes abandoned temporary files that it meets.
 */
export async function* listMembers(
  folder: OpenFolder,
  isValidName: NameCheck,
): AsyncGenerator<readonly StorageEntry[]> {
  const records = await openRecords(folder);
  try {
    for await (const names of readNames(folder, isValidName)) yield* lookUpInBatches({ folder, records }, names);
  } finally {
    records?.close();
  }
}

/**
 * Yields at least the first files and folders after a name, in batches, some of which are empty. It reads all names,
 * but looks up only as many as it needs. If a symlink, device or removed file was among them, it looks up all.
 */
export async function* listFirstMembers(
  folder: OpenFolder,
  isValidName: NameCheck,
  { after, limit }: ListOptions,
): AsyncGenerator<readonly StorageEntry[]> {
  const first = createSmallest(limit, compareNames);
  let count = 0;
  for await (const names of readNames(folder, isValidName)) {
    const later = names.filter((name) => compareNames(name, after) > 0);
    count += later.length;
    await first.add(later);
    // Lets other requests run.
    yield [];
  }
  const entries: StorageEntry[] = [];
  const records = await openRecords(folder);
  try {
    for await (const found of lookUpInBatches({ folder, records }, await first.sorted())) {
      entries.push(...found);
      yield [];
    }
  } finally {
    records?.close();
  }
  const isEnough = count <= limit || entries.filter(({ kind }) => kind !== "link").length === limit;
  if (isEnough) yield entries;
  else yield* listMembers(folder, isValidName);
}

/** A folder that is listed, and the records of its members' properties. */
interface Listed {
  readonly folder: OpenFolder;
  readonly records: OpenFolder | undefined;
}

/** Yields the entries of members in batches, an empty one for no names. */
async function* lookUpInBatches(listed: Listed, names: readonly string[]): AsyncGenerator<readonly StorageEntry[]> {
  let left = names;
  do {
    const { entries, asked } = lookUpSync(listed, left) ?? (await statSome(listed, left));
    left = left.slice(asked);
    yield entries;
  } while (left.length > 0);
}

/** Entries that were found, and how many names were looked up. */
interface Looks {
  readonly entries: readonly StorageEntry[];
  readonly asked: number;
}

/**
 * Looks up members synchronously until others have to run. Returns `undefined` if synchronous calls are not possible or
 * the disk is slow.
 */
function lookUpSync({ folder, records }: Listed, names: readonly string[]): Looks | undefined {
  const { lookSync } = folder;
  if (lookSync === undefined || !readGuard.isFast()) return undefined;
  const entries: StorageEntry[] = [];
  const end = performance.now() + SLICE_MS;
  let asked = 0;
  for (const name of names) {
    const stats = lookSync(name);
    const entry = stats && toEntry(name, stats);
    if (stats !== undefined && entry !== undefined) {
      const isMarked = records !== undefined && entry.kind !== "link" && hasRecordSync(records, stats);
      entries.push(isMarked ? { ...entry, hasProperties: true } : entry);
    }
    asked += 1;
    if (performance.now() >= end) break;
  }
  return { entries, asked };
}

async function statSome({ folder, records }: Listed, names: readonly string[]): Promise<Looks> {
  const some = names.slice(0, MAX_PARALLEL);
  const describe = records === undefined ? statMember : describeMember;
  const entries = await Promise.all(some.map((name) => describe(folder, name)));
  return { entries: entries.filter((entry) => entry !== undefined), asked: some.length };
}
