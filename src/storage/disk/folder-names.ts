import { type Dir, type Dirent, opendirSync } from "node:fs";
import { opendir } from "node:fs/promises";
import { readGuard } from "./latency-guard.ts";
import { isTemporaryName, type NameCheck } from "./names.ts";
import type { OpenFolder } from "./open-folder.ts";
import { removeIfAbandoned } from "./temporary-files.ts";

/**
 * How many names are read from a folder at a time. With more, too many objects survive the young generation
 * (docs/decisions/0007-memory.md), and other requests wait longer.
 */
const NAMES = 32;

/**
 * Whether `Dir.read` goes on where `Dir.readSync` stopped, and the other way round. In Deno each of them reads the
 * folder from its start.
 */
const SHARES_POSITION = process.versions.deno === undefined;

/**
 * Yields the valid names in a folder, in the order of the disk: first none, when the folder is open. Removes abandoned
 * temporary files that it meets.
 */
export async function* readNames(folder: OpenFolder, isValidName: NameCheck): AsyncGenerator<readonly string[]> {
  const directory = await openDirectory(folder);
  try {
    yield [];
    const isRepeated = createRepetitionCheck();
    for (;;) {
      const found = await readSome(directory);
      if (found.length === 0) return;
      for (const name of found) if (isTemporaryName(name)) await removeIfAbandoned(folder, name);
      yield found.filter((name) => isValidName(name) && !isRepeated(name));
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
async function readSome(directory: Dir): Promise<readonly string[]> {
  const names: string[] = [];
  const isFast = SHARES_POSITION && readGuard.isFast();
  const readSync = (): Dirent | null => readGuard.timed(() => directory.readSync());
  while (names.length < NAMES) {
    const next = isFast ? readSync() : await directory.read();
    if (next === null) break;
    names.push(next.name);
  }
  return names;
}
