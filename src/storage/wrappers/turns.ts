import { isWithinFolder } from "../../contracts/storage-path.ts";
import { isLoopShared } from "../../platform/event-loop.ts";

/** Lets one caller at a time change what is at a path, in this process. */
export interface Turns {
  /**
   * Waits for the turn at each path, and at each tree: a path with everything below it. The function that it returns
   * ends the turns.
   */
  take(paths: readonly string[], trees?: readonly string[]): Promise<() => void>;
}

const NONE: readonly string[] = [];

/** Creates {@link Turns}. On Workers no request may wait for another, so callers do not wait there. */
export function createTurns(): Turns {
  /** For each path that is taken, what to call for the callers that wait for it. */
  const taken = new Map<string, (() => void)[]>();
  const takenTrees = new Set<string>();
  const waitingForTrees: (() => void)[] = [];

  function takeOne(path: string): Promise<void> | undefined {
    const waiting = taken.get(path);
    if (waiting !== undefined && isLoopShared) return new Promise((resolve) => waiting.push(resolve));
    taken.set(path, waiting ?? []);
    return undefined;
  }

  function endOne(path: string): void {
    const next = taken.get(path)?.shift();
    if (next === undefined) taken.delete(path);
    else next();
  }

  /** Whether another caller has a tree with one of the paths, or one that overlaps with one of the trees. */
  function isInTree(paths: readonly string[], trees: readonly string[]): boolean {
    for (const tree of takenTrees) {
      if ([...paths, ...trees].some((path) => isWithinFolder(path, tree))) return true;
      if (trees.some((path) => isWithinFolder(tree, path))) return true;
    }
    return false;
  }

  function endTrees(trees: readonly string[]): void {
    if (trees.length === 0) return;
    for (const tree of trees) takenTrees.delete(tree);
    for (const resume of waitingForTrees.splice(0)) resume();
  }

  async function take(paths: readonly string[], trees = NONE): Promise<() => void> {
    while (takenTrees.size > 0 && isLoopShared && isInTree(paths, trees)) {
      await new Promise<void>((resolve) => waitingForTrees.push(resolve));
    }
    for (const tree of trees) takenTrees.add(tree);
    const own = trees.length === 0 ? paths : withTrees(paths, trees);
    // Taking all paths in one step prevents deadlocks: two callers are in the same order at every path.
    for (const turn of own.map(takeOne)) if (turn !== undefined) await turn;
    return () => {
      own.forEach(endOne);
      endTrees(trees);
    };
  }

  /** The paths, the trees, and what others have taken in the trees. */
  function withTrees(paths: readonly string[], trees: readonly string[]): readonly string[] {
    const below = [...taken.keys()].filter((path) => trees.some((tree) => isWithinFolder(path, tree)));
    return [...new Set([...paths, ...trees, ...below])];
  }

  return { take };
}
