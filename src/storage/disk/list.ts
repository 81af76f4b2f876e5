import { type BigIntStats, type Dir, type Dirent, opendirSync } from "node:fs";
import { opendir } from "node:fs/promises";
import type { StorageEntry } from "../../contracts/storage-adapter.ts";
import { yieldToEventLoop } from "../../platform/event-loop.ts";
import { readGuard } from "./latency-guard.ts";
import { isTemporaryName, type NameCheck } from "./names.ts";
import type { OpenFolder } from "./open-folder.ts";
import { removeIfAbandoned } from "./temporary-files.ts";

const MAX_TIME = 8.64e15;
/**
 * How many names are read from a folder at a time. With more, too many objects survive the young generation
 * (docs/decisions/0007-memory.md).
 */
const NAMES = 64;
/** How long synchronous calls of a listing may block other requests, in milliseconds. */
const SLICE_MS = 2;
/** How many asynchronous `lstat` calls run in parallel. */
const MAX_PARALLEL = 32;

/** Returns the entry of a member, a link as a link. `hasLock`: see `OpenFolder.lookUp`. */
export async function statMember(folder: OpenFolder, name: string, hasLock = false): Promise<StorageEntry | undefined> {
  const stats = await folder.lookUp(name, hasLock);
  return stats && toEntry(name, stats);
}

/**
 * Converts stats to the entry of a file, folder or link. Returns `undefined` for pipes, sockets and devices, which the
 * storage does not show.
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
 * Yields the members of a folder with valid names in batches, in the order of the disk. Removes abandoned temporary
 * files that it meets.
 */
export async function* listMembers(
  folder: OpenFolder,
  isValidName: NameCheck,
): AsyncGenerator<readonly StorageEntry[]> {
  const directory = await openDirectory(folder);
  try {
    const isRepeated = createRepetitionCheck();
    let isFirst = true;
    for (;;) {
      const found = await readNames(directory);
      if (found.length === 0) return;
      for (const name of found) if (isTemporaryName(name)) await removeIfAbandoned(folder, name);
      let names = found.filter((name) => isValidName(name) && !isRepeated(name));
      while (names.length > 0) {
        // Between batches only: a small folder must not wait for others that read large ones.
        if (!isFirst) await yieldToEventLoop();
        isFirst = false;
        const { entries, asked } = lookUpSync(folder, names) ?? (await statSome(folder, names));
        names = names.slice(asked);
        yield entries;
      }
    }
  } finally {
    directory.closeSync();
  }
}

/**
 * Detects names that are listed twice. Node reads a name that is not UTF-8 with U+FFFD in it. Such a member cannot be
 * addressed, but its name may equal the true name of another member, which then appears a second time.
 */
function createRepetitionCheck(): (name: string) => boolean {
  const ambiguous = new Set<string>();
  return (name) => {
    if (!name.includes("\uFFFD")) return false;
    if (ambiguous.has(name)) return true;
    ambiguous.add(name);
    return false;
  };
}

async function openDirectory(folder: OpenFolder): Promise<Dir> {
  const path = String(folder.at("."));
  const options = { bufferSize: NAMES };
  return readGuard.isFast() ? readGuard.timed(() => opendirSync(path, options)) : opendir(path, options);
}

/** Reads the next names in a folder. Returns no names at the end. */
async function readNames(directory: Dir): Promise<readonly string[]> {
  const names: string[] = [];
  const isFast = readGuard.isFast();
  const readSync = (): Dirent | null => readGuard.timed(() => directory.readSync());
  while (names.length < NAMES) {
    const next = isFast ? readSync() : await directory.read();
    if (next === null) break;
    names.push(next.name);
  }
  return names;
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
function lookUpSync(folder: OpenFolder, names: readonly string[]): Looks | undefined {
  const { lookSync } = folder;
  if (lookSync === undefined || !readGuard.isFast()) return undefined;
  const entries: StorageEntry[] = [];
  const end = performance.now() + SLICE_MS;
  let asked = 0;
  for (const name of names) {
    const stats = lookSync(name);
    const entry = stats && toEntry(name, stats);
    if (entry !== undefined) entries.push(entry);
    asked += 1;
    if (performance.now() >= end) break;
  }
  return { entries, asked };
}

async function statSome(folder: OpenFolder, names: readonly string[]): Promise<Looks> {
  const some = names.slice(0, MAX_PARALLEL);
  const entries = await Promise.all(some.map((name) => statMember(folder, name)));
  return { entries: entries.filter((entry) => entry !== undefined), asked: some.length };
}
