import type { StorageEntry } from "../../contracts/storage-adapter.ts";
import { inParallel } from "../../platform/in-parallel.ts";
import { runSweeps } from "../../platform/run-sweeps.ts";
import { toTimeOfId } from "../wrappers/timed-ids.ts";
import type { VersionInternals } from "./internals.ts";
import { finishMoves } from "./moves.ts";
import { toVersionedPath } from "./places.ts";
import { isLeftover, isVersionTooOld, prune, removeVersion } from "./stored.ts";
import { removeUnused, setAside } from "./unused.ts";
import { type WalkedFolder, walkVersions } from "./walk.ts";

/** How long a write may take after it has kept the previous content. */
const COMPLETION_MILLISECONDS = 3_600_000;
/** For so long a version is compared with the present file, each time. */
const LAST_LOOK_MILLISECONDS = 86_400_000;
/** How many folders are looked at at the same time. */
const PARALLEL = 8;

/**
 * Removes the versions that are too old, too many, or what a crash has left, and ends moves that a crash has left.
 * Returns the number of versions. A folder in which that fails stops no other one; afterwards it rejects with the first
 * failure. If the signal aborts, it rejects with its reason before the next folder.
 */
export function sweepVersions(internals: VersionInternals, signal?: AbortSignal): Promise<number> {
  return runSweeps(
    [() => finishMoves(internals), () => removeUnused(internals, signal), () => sweepFolders(internals, signal)],
    signal,
  );
}

async function sweepFolders(internals: VersionInternals, signal: AbortSignal | undefined): Promise<number> {
  let count = 0;
  await inParallel(walkVersions(internals.storage), { most: PARALLEL, goesOn: true, signal }, async (found) => {
    if (found.versions.length === 0) return setAside(internals, found.folder);
    // `count += await` would lose what others have added meanwhile.
    const removed = await sweepFolder(internals, found);
    count += removed;
  });
  return count;
}

async function sweepFolder(internals: VersionInternals, { folder, versions }: WalkedFolder): Promise<number> {
  const isDue = versions.length > internals.keep || versions.some(({ name }) => isVersionTooOld(internals, name));
  const count = isDue ? await prune(internals, folder) : 0;
  const newest = versions.reduce<StorageEntry | undefined>(
    (found, one) => (found === undefined || one.name > found.name ? one : found),
    undefined,
  );
  return newest !== undefined && (await removeLeftover(internals, folder, newest)) ? count + 1 : count;
}

/** Removes the newest version if it is what the present file has. Returns whether it has. */
async function removeLeftover(internals: VersionInternals, folder: string, newest: StorageEntry): Promise<boolean> {
  const age = internals.clock() - toTimeOfId(newest.name);
  const path = toVersionedPath(folder);
  if (path === undefined || age < COMPLETION_MILLISECONDS || age > LAST_LOOK_MILLISECONDS) return false;
  const unlock = await internals.mutex.lock([path]);
  try {
    const present = await internals.storage.stat(path);
    return (
      (await isLeftover(internals, path, newest, present)) && (await removeVersion(internals, folder, newest.name))
    );
  } finally {
    unlock();
  }
}
