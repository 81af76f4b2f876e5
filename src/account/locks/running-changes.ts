import type { LockDepth } from "../../contracts/lock.ts";
import { isPrefix } from "../../contracts/storage-path.ts";
import { isLoopShared } from "../../platform/event-loop.ts";

/** The changes of files that run in this process. */
export interface RunningChanges {
  /** Runs a change of paths. */
  run<T>(paths: readonly (readonly string[])[], change: () => Promise<T>): Promise<T>;
  /** Registers a change of paths. Returns the function that ends it, which may be called again. */
  start(paths: readonly (readonly string[])[]): () => void;
  /** Resolves when the running changes of what a lock on `path` covers have ended. */
  settled(path: readonly string[], depth: LockDepth): Promise<void>;
}

interface Change {
  readonly paths: readonly (readonly string[])[];
  readonly ended: Promise<void>;
}

/**
 * Creates the registry of changes. A change is registered before it looks for locks. A new lock is stored first, and
 * granted when the changes have ended that may not have seen it. So no change happens under a lock that was granted
 * meanwhile, and no change waits for a lock.
 *
 * On Workers, where no request may wait for another, a lock is granted immediately.
 */
export function createRunningChanges(): RunningChanges {
  const running = new Set<Change>();

  function start(paths: readonly (readonly string[])[]): () => void {
    let end: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const change = { paths, ended };
    running.add(change);
    return () => {
      running.delete(change);
      end();
    };
  }

  async function run<T>(paths: readonly (readonly string[])[], change: () => Promise<T>): Promise<T> {
    const end = start(paths);
    try {
      return await change();
    } finally {
      end();
    }
  }

  async function settled(path: readonly string[], depth: LockDepth): Promise<void> {
    if (!isLoopShared) return;
    // A lock of a folder alone is about its names.
    const deepest = depth === "infinity" ? Number.POSITIVE_INFINITY : path.length + 1;
    const isAbout = (changed: readonly string[]): boolean =>
      isPrefix(changed, path) || (changed.length <= deepest && isPrefix(path, changed));
    const overlapping = [...running].filter(({ paths }) => paths.some(isAbout));
    await Promise.all(overlapping.map(({ ended }) => ended));
  }

  return { run, start, settled };
}
