import { isWithinFolder } from "../../contracts/storage-path.ts";
import { isLoopShared } from "../../platform/event-loop.ts";

/** Lets one caller at a time change what is at a path, in this process. */
export interface Turns {
  /**
   * Waits for the turn at each path, and at each tree: a path with everything below it. The function that it returns
   * ends the turns.
   */
  take(paths: readonly string[], trees?: readonly string[]): Promise<() => void>;
  /** Watches a path for a caller that takes its turn later. */
  watch(path: string): PathWatch;
}

/** A path that a caller watches, until `end`. */
export interface PathWatch {
  /** For the caller while it has the turn: whether no other has had it, or has asked for it, since the watch started. */
  isUntouched(): boolean;
  end(): void;
}

/** A path that callers watch. */
interface Watched {
  watchers: number;
  /** How often its turn was asked for since the first of them came. */
  takes: number;
}

const NONE: readonly string[] = [];

/** Creates {@link Turns}. On Workers no request may wait for another, so callers do not wait there. */
export function createTurns(): Turns {
  /** For each path that is taken, what to call for the callers that wait for it. */
  const taken = new Map<string, (() => void)[]>();
  const takenTrees = new Set<string>();
  const waitingForTrees: (() => void)[] = [];
  const watchedPaths = new Map<string, Watched>();

  function takeOne(path: string): Promise<void> | undefined {
    const watched = watchedPaths.get(path);
    if (watched !== undefined) watched.takes += 1;
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

  /** The paths, the trees, and what others have taken or watch in the trees. */
  function withTrees(paths: readonly string[], trees: readonly string[]): readonly string[] {
    const known = [...taken.keys(), ...watchedPaths.keys()];
    const below = known.filter((path) => trees.some((tree) => isWithinFolder(path, tree)));
    return [...new Set([...paths, ...trees, ...below])];
  }

  function watch(path: string): PathWatch {
    const watched = watchedPaths.get(path) ?? { watchers: 0, takes: 0 };
    watched.watchers += 1;
    watchedPaths.set(path, watched);
    const isTaken = taken.has(path) || (takenTrees.size > 0 && isInTree([path], NONE));
    // The caller itself takes the turn once.
    const expected = watched.takes + 1;

    function end(): void {
      watched.watchers -= 1;
      if (watched.watchers === 0) watchedPaths.delete(path);
    }

    return { isUntouched: () => !isTaken && watched.takes === expected, end };
  }

  return { take, watch };
}
