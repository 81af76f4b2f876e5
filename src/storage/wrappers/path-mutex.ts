import { isWithinFolder } from "../../contracts/storage-path.ts";
import { isLoopShared } from "../../platform/event-loop.ts";

/** Lets one caller at a time change what is at a path, in this process. */
export interface PathMutex {
  /**
   * Waits until no other caller has one of the paths or trees: a tree is a path with everything below it. The function
   * that it returns unlocks them. It may come without a promise if there is
   * nothing to wait for.
   */
  lock(paths: readonly string[], trees?: readonly string[]): Promise<() => void> | (() => void);
}

const NONE: readonly string[] = [];

/** Creates a {@link PathMutex}. On Workers no request may wait for another, so callers do not wait there. */
export function createPathMutex(): PathMutex {
  /** For each path that is locked, what to call for the callers that wait for it. */
  const locked = new Map<string, (() => void)[]>();
  const lockedTrees = new Set<string>();
  const waitingForTrees: (() => void)[] = [];

  function lockOne(path: string): Promise<void> | undefined {
    const waiting = locked.get(path);
    if (waiting !== undefined && isLoopShared) return new Promise((resolve) => waiting.push(resolve));
    locked.set(path, waiting ?? []);
    return undefined;
  }

  function unlockOne(path: string): void {
    const next = locked.get(path)?.shift();
    if (next === undefined) locked.delete(path);
    else next();
  }

  /** Whether another caller has a tree with one of the paths, or one that overlaps with one of the trees. */
  function isInTree(paths: readonly string[], trees: readonly string[]): boolean {
    for (const tree of lockedTrees) {
      if ([...paths, ...trees].some((path) => isWithinFolder(path, tree))) return true;
      if (trees.some((path) => isWithinFolder(tree, path))) return true;
    }
    return false;
  }

  function unlockTrees(trees: readonly string[]): void {
    if (trees.length === 0) return;
    for (const tree of trees) lockedTrees.delete(tree);
    for (const resume of waitingForTrees.splice(0)) resume();
  }

  function lock(paths: readonly string[], trees = NONE): Promise<() => void> | (() => void) {
    const [path = "", ...others] = paths;
    const isFree = lockedTrees.size === 0 && !locked.has(path);
    if (!isFree || others.length > 0 || trees.length > 0) return lockInTurn(paths, trees);
    locked.set(path, []);
    return () => unlockOne(path);
  }

  async function lockInTurn(paths: readonly string[], trees: readonly string[]): Promise<() => void> {
    while (lockedTrees.size > 0 && isLoopShared && isInTree(paths, trees)) {
      await new Promise<void>((resolve) => waitingForTrees.push(resolve));
    }
    for (const tree of trees) lockedTrees.add(tree);
    const own = new Set([...paths, ...trees, ...pathsIn(trees)]);
    // Asking for all paths in one step prevents deadlocks: two callers are in the same order at every path.
    for (const waiting of [...own].map(lockOne)) if (waiting !== undefined) await waiting;
    return () => {
      for (const path of own) unlockOne(path);
      unlockTrees(trees);
    };
  }

  /** What others have locked in the trees. */
  function pathsIn(trees: readonly string[]): readonly string[] {
    if (trees.length === 0) return NONE;
    return [...locked.keys()].filter((path) => trees.some((tree) => isWithinFolder(path, tree)));
  }

  return { lock };
}
