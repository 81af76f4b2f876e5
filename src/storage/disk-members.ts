import type { BigIntStats } from "node:fs";
import { opendir } from "node:fs/promises";
import type { StorageEntry } from "../contracts/storage-adapter.ts";
import type { OpenFolder } from "./disk-folder.ts";
import { isKeepable } from "./disk-names.ts";
import { isTemporaryName, removeLeftover } from "./disk-temporary.ts";

const MAX_TIME = 8.64e15;
/** How many members are asked for their sizes at once. */
const BATCH = 32;

/** The member of a folder with this name as it is now, a link as a link. */
export async function statMember(folder: OpenFolder, name: string): Promise<StorageEntry | undefined> {
  const stats = await findMember(folder, name);
  return stats && toEntry(name, stats);
}

/** What the system knows of a member, of whatever kind; `undefined` when nothing has this name. */
export async function findMember(folder: OpenFolder, name: string): Promise<BigIntStats | undefined> {
  return isKeepable(name) ? folder.look(name) : undefined;
}

/** The entry of a file, folder or link; `undefined` for pipes, sockets and devices, which do not exist. */
export function toEntry(name: string, stats: BigIntStats): StorageEntry | undefined {
  // Of what a Date can hold (ECMA-262 21.4.1.1): some file systems hold more.
  const milliseconds = Number(stats.mtimeNs / 1_000_000n);
  const modified = new Date(Math.max(-MAX_TIME, Math.min(milliseconds, MAX_TIME)));
  if (stats.isDirectory()) return { name, kind: "folder", size: 0, modified };
  if (stats.isSymbolicLink()) return { name, kind: "link", size: 0, modified };
  if (!stats.isFile()) return undefined;
  return { name, kind: "file", size: Number(stats.size), modified, etag: toEntityTag(stats) };
}

/** Strong, because a write makes a new file with a time of its own (see `disk-write.ts`). */
function toEntityTag({ ino, size, mtimeNs }: BigIntStats): string {
  return `"${ino.toString(16)}-${size.toString(16)}-${mtimeNs.toString(16)}"`;
}

/** The members of a folder in the disk's order, some at a time. Leftovers that it meets are removed. */
export async function* listMembers(folder: OpenFolder): AsyncGenerator<readonly StorageEntry[]> {
  const ambiguous = new Set<string>();
  let names: string[] = [];
  for await (const { name } of await opendir(String(folder.at(".")), { bufferSize: 8 * BATCH })) {
    if (isTemporaryName(name)) await removeLeftover(folder, name);
    // Names that are not UTF-8 are read with U+FFFD in them. They cannot be addressed; but one may be read as
    // another's true name, which is then met a second time.
    if (ambiguous.has(name)) continue;
    if (name.includes("\uFFFD")) ambiguous.add(name);
    names.push(name);
    if (names.length < BATCH) continue;
    yield await statMembers(folder, names);
    names = [];
  }
  yield await statMembers(folder, names);
}

async function statMembers(folder: OpenFolder, names: readonly string[]): Promise<readonly StorageEntry[]> {
  const entries = await Promise.all(names.map((name) => statMember(folder, name)));
  return entries.filter((entry) => entry !== undefined);
}
