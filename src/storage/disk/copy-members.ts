import type { BigIntStats } from "node:fs";
import { StorageError } from "../../contracts/storage-adapter.ts";
import { inParallel } from "../../platform/in-parallel.ts";
import {
  copyFile,
  copyProperties,
  type FolderPair,
  ignoreNotFound,
  type MemberCopyOptions,
} from "./copies/copy-member.ts";
import { createFolderAt } from "./create-folder.ts";
import { readNames } from "./folder-names.ts";
import { toEntry } from "./list.ts";
import { leaveFor, type OpenFolder } from "./open-folder.ts";
import { hasRecords } from "./properties.ts";

/**
 * How many files of a copy are written in parallel: the system flushes them together. Node makes such calls in four
 * threads, so with more files other requests would wait for a thread.
 */
const MAX_PARALLEL = 4;
/** How many names of subfolders are read before the copy continues in one of them. */
const MAX_NAMES = 1000;
/** With more names in all folders on the way, only those of one batch are read. */
const MAX_ALL_NAMES = 10_000;
/** How many folders on the way may have more subfolders than were read: they stay open. */
const MAX_OPEN = 32;

/** A folder on the way from the top folder to the folder whose members are being copied. */
interface Level {
  readonly name: string;
  /** Its own stats if the folder above it has records of properties. */
  readonly stats: BigIntStats | undefined;
  /** Its valid names that were not read yet. */
  names: AsyncIterator<readonly string[]> | undefined;
  /** Its subfolders that still have to be copied. */
  readonly folders: string[];
  /** Closed during the copy of a subfolder, unless there are names to read. */
  pair: FolderPair | undefined;
  /** The identities of a closed pair. */
  identities: { readonly source: string; readonly target: string };
}

/** A copy that goes on in the last folder on its way. */
interface Copying {
  readonly way: Level[];
  /** How many names of subfolders it remembers. */
  names: number;
  readonly options: MemberCopyOptions;
}

/**
 * Copies the members of a folder to a new folder that is not visible yet.
 *
 * It keeps few folders open at any depth: on the way up it opens the folders again, and checks that they are those that
 * it came from. At each depth it remembers the names of some subfolders.
 */
export async function copyMembers({ source, target }: FolderPair, options: MemberCopyOptions): Promise<void> {
  const way: Level[] = [];
  const copying: Copying = { way, names: 0, options };
  try {
    enter(copying, ".", undefined, await toPair(source.enter("."), () => target.enter(".")));
    for (let level = way.at(-1); level?.pair !== undefined; level = way.at(-1)) {
      options.signal?.throwIfAborted();
      const { pair, folders } = level;
      if (folders.length === 0) await readFolders(copying, level, pair);
      const next = folders.pop();
      if (next === undefined) await goUp(copying, level, pair);
      else await goDown(copying, level, pair, next);
    }
  } finally {
    for (const level of way) {
      await level.names?.return?.();
      closePair(level);
    }
  }
}

function enter({ way, options }: Copying, name: string, stats: BigIntStats | undefined, pair: FolderPair): void {
  const names = readNames(pair.source, options.isValidName);
  way.push({ name, stats, names, folders: [], pair, identities: { source: "", target: "" } });
}

/** Copies files of a folder until it knows enough subfolders, or all of them. */
async function readFolders(copying: Copying, level: Level, pair: FolderPair): Promise<void> {
  const { way, options } = copying;
  const most = copying.names < MAX_ALL_NAMES ? MAX_NAMES : 1;
  try {
    while (level.names !== undefined && level.folders.length < most) {
      const { done, value } = await level.names.next();
      if (done === true) level.names = undefined;
      else level.folders.push(...(await copyFiles(pair, value, options)));
    }
  } catch (error) {
    // A folder that disappears meanwhile has no more members.
    if (way.length === 1) throw error;
    ignoreNotFound(error);
    level.names = undefined;
  }
  copying.names += level.folders.length;
}

async function goDown(copying: Copying, level: Level, pair: FolderPair, name: string): Promise<void> {
  const { way } = copying;
  const { source, target } = pair;
  copying.names -= 1;
  const stats = (await hasRecords(source)) ? await source.lookUp(name) : undefined;
  const create = async (): Promise<OpenFolder> => {
    await createFolderAt(target, name);
    return target.enter(name);
  };
  const inner = await toPair(source.enter(name), create).catch(ignoreNotFound);
  if (inner === undefined) return;
  enter(copying, name, stats, inner);
  if (level.names === undefined) {
    level.identities = { source: source.identity(), target: target.identity() };
    closePair(level);
  } else if (way.filter(({ names }) => names !== undefined).length > MAX_OPEN) {
    throw new StorageError("unavailable", "Too many folders on one path have thousands of subfolders.");
  }
}

/** Ends a folder whose members are all copied, and opens the one above it again. */
async function goUp({ way, options }: Copying, level: Level, pair: FolderPair): Promise<void> {
  if (options.durability === "fsync") await pair.target.sync();
  const above = way.at(-2);
  if (above !== undefined) {
    above.pair ??= await leavePair(pair, above.identities);
    await copyProperties(above.pair, level.name, level.stats, options).catch(ignoreNotFound);
  }
  closePair(level);
  way.pop();
}

/** Copies the files among the members with these names, and returns the names of the folders among them. */
async function copyFiles(
  pair: FolderPair,
  names: readonly string[],
  options: MemberCopyOptions,
): Promise<readonly string[]> {
  const { signal } = options;
  const mayHaveProperties = await hasRecords(pair.source);
  const folders: string[] = [];
  await inParallel(names, { most: MAX_PARALLEL, signal }, async (name, ownSignal) => {
    const stats = await pair.source.lookUp(name);
    const kind = stats && toEntry(name, stats)?.kind;
    if (kind === "folder") folders.push(name);
    if (kind !== "file") return;
    const ownStats = mayHaveProperties ? stats : undefined;
    await copyFile(pair, name, ownStats, { ...options, signal: ownSignal }).catch(ignoreNotFound);
  });
  return folders;
}

function leavePair({ source, target }: FolderPair, identities: Level["identities"]): Promise<FolderPair> {
  return toPair(leaveFor(source, identities.source), () => leaveFor(target, identities.target));
}

async function toPair(opening: Promise<OpenFolder>, openTarget: () => Promise<OpenFolder>): Promise<FolderPair> {
  const source = await opening;
  try {
    return { source, target: await openTarget() };
  } catch (error) {
    source.close();
    throw error;
  }
}

function closePair(level: Level): void {
  level.pair?.source.close();
  level.pair?.target.close();
  level.pair = undefined;
}
