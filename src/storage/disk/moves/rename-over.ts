import type { BigIntStats } from "node:fs";
import { rename, rmdir, unlink } from "node:fs/promises";
import { hasCode, StorageError } from "../../../contracts/storage-adapter.ts";
import { removeFolder } from "../remove.ts";
import { releaseTemporaryName, removeReturning, reserveTemporaryName, returnLater } from "../temporary-files.ts";
import { isSameFile, lookUpPlace, type Place, renameTo } from "./steps.ts";

/** How often a move replaces what others put at the new name while it is free. */
const MAX_REPEATS = 20;

/** What was at a place, under a temporary name, or on the way there. */
interface Aside {
  readonly name: string;
  readonly stats: BigIntStats;
}

/**
 * Renames a member to a place. What is there goes aside first, and is removed after the rename; if that fails, it comes
 * back. What other processes put there meanwhile is replaced as well.
 * @throws StorageError `unavailable` if it cannot come back.
 */
export async function renameOver(from: Place, to: Place): Promise<void> {
  const member = await lookUpPlace(from);
  const asides: Aside[] = [];
  try {
    await takePlace(from, to, member, asides);
  } catch (error) {
    const [first, ...others] = asides;
    const isBack = first === undefined || (await bringBack(to, first, member));
    for (const { name } of others) await removeOrReturn(to, name);
    if (isBack) throw error;
    throw new StorageError("unavailable", "What was to be replaced could not come back.", { cause: error });
  }
  removeReturning({ folder: to.folder.identity(), name: to.name });
  // The move is done: what remains of the old content, the next clean-up removes.
  for (const { name, stats } of asides) {
    const { folder } = to;
    const removal = stats.isDirectory() ? removeFolder(folder, name) : unlink(folder.at(name));
    releaseTemporaryName(name, await isDone(removal));
  }
}

async function takePlace(from: Place, to: Place, member: BigIntStats | undefined, asides: Aside[]): Promise<void> {
  for (let repeats = 0; ; repeats += 1) {
    await moveAside(to, asides);
    try {
      return await renameTo(from.folder.at(from.name), to.folder.at(to.name));
    } catch (error) {
      const found = await lookUpPlace(to);
      // A rename may have been done although it is reported as failed.
      const isTaken = found === undefined ? hasCode(error, "already-exists") : !isSameFile(found, member);
      if (!isTaken || repeats === MAX_REPEATS || !isSameFile(await lookUpPlace(from), member)) throw error;
    }
  }
}

async function moveAside(to: Place, asides: Aside[]): Promise<void> {
  const stats = await lookUpPlace(to);
  if (stats === undefined) return;
  const name = reserveTemporaryName();
  // Noted before: the rename may be done although it is reported as failed.
  asides.push({ name, stats });
  try {
    await renameTo(to.folder.at(to.name), to.folder.at(name));
  } catch (error) {
    if (!hasCode(error, "not-found")) throw error;
    // Another process has taken it away.
    if ((await lookUpPlace({ folder: to.folder, name })) === undefined) {
      asides.pop();
      releaseTemporaryName(name);
    }
  }
}

/** Removes what others have put at a place if it is an empty folder; otherwise it comes back when the name is free. */
async function removeOrReturn({ folder, name }: Place, aside: string): Promise<void> {
  if (await isDone(rmdir(folder.at(aside)))) releaseTemporaryName(aside);
  else returnLater(aside, { folder: folder.identity(), name });
}

/** Brings back to a place what it had. Returns `false` if it has neither that nor the moved member then. */
async function bringBack(to: Place, { name, stats }: Aside, member: BigIntStats | undefined): Promise<boolean> {
  const found = await lookUpPlace(to).catch(() => undefined);
  const isBack = isSameFile(found, stats);
  if (isBack || isSameFile(found, member)) {
    releaseTemporaryName(name, isBack);
    return true;
  }
  // A rename replaces an empty folder by a folder, and fails for all other folders.
  const mayRename = found === undefined || stats.isDirectory();
  const hasCome = mayRename && (await isDone(rename(to.folder.at(name), to.folder.at(to.name))));
  if (hasCome) releaseTemporaryName(name);
  else returnLater(name, { folder: to.folder.identity(), name: to.name });
  return hasCome;
}

function isDone(call: Promise<unknown>): Promise<boolean> {
  return call.then(
    () => true,
    () => false,
  );
}
