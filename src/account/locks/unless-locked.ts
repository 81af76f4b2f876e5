import { appliesTo } from "./lock.ts";
import type { Locks } from "./locks.ts";

/**
 * Runs the removal of a file that no account asks for, unless a lock is on the file or on its folder. Returns whether
 * it ran. `path` has the segments in the storage; without `locks` nothing is locked.
 * @throws HttpError `unavailable` if the store of locks fails.
 */
export async function unlessLocked(
  locks: Locks | undefined,
  path: readonly string[],
  remove: () => Promise<void>,
): Promise<boolean> {
  if (locks === undefined) {
    await remove();
    return true;
  }
  // A lock that is taken meanwhile is granted only after the removal.
  return locks.running.run([path], async () => {
    const around = await locks.locksAround(path);
    const folder = path.slice(0, -1);
    if (around.some((lock) => appliesTo(lock, path) || appliesTo(lock, folder))) return false;
    await remove();
    return true;
  });
}
